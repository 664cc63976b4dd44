/** A `Headers` object, Node's `request.headers`, or any object. Names are case-insensitive. */
export type RequestHeaders =
  { get(name: string): string | null } | Record<string, string | readonly string[] | undefined>;

/** Every value of a header; none if it is absent or empty. `name` is in lower case. */
export function headerValues(headers: RequestHeaders, name: string): string[] {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return [value ?? []].flat().filter((each) => typeof each === 'string' && each !== '');
}

/** Whether there is no header at all, as far as an object tells. */
export const isEmpty = (headers: RequestHeaders): boolean =>
  !isHeaders(headers) &&
  Object.values(headers)
    .flat()
    .every((value) => typeof value !== 'string' || value === '');

const isHeaders = (headers: RequestHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function';
