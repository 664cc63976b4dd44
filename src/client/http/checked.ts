/** Throws TypeError where a secret is absent or cannot stand in a header, without showing it. */
export function checked(name: string, value: string): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is required.`);
  return value;
}

/** Throws TypeError where it cannot be sent, without showing it. */
export function checkedHeader(name: string, value: string): string {
  try {
    new Headers({ [name]: value });
  } catch {
    throw new TypeError(`${JSON.stringify(name)} cannot be a header with the value given.`);
  }
  return value;
}

export function checkedToken(name: string, value: string): string {
  if (!/^[\x21-\x7e]+$/.test(checked(name, value))) {
    throw new TypeError(`${name} must be printable ASCII without spaces.`);
  }
  return value;
}
