/** The ids of the API. Dots and slashes in an id would lead a request to another endpoint. */
const idForm = /^[\w-]+$/;

/**
 * The values of a pattern such as `/deliveries/:id?`, or null if the path is another or a value cannot be an id. A part
 * with `?` may be absent: `{}`. Pure.
 */
export function matchPath(pattern: string, pathname: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = pathname.split('/');
  if (given.length > wanted.length) return null;
  const values: Record<string, string> = {};
  for (const [position, part] of wanted.entries()) {
    const value = given[position] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
    } else if (value !== '') {
      if (!idForm.test(value)) return null;
      values[part.replace(/[:?]/g, '')] = value;
    } else if (!part.endsWith('?')) return null;
  }
  return values;
}
