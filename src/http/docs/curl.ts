import type { Method, Operation } from '../openapi/types.js';

/** How each proof of identity is given to curl. */
const options: Record<string, string> = {
  credentials: '-u "$EMAIL:$PASSWORD"',
  accessToken: '-H "Authorization: Bearer $TOKEN"',
  operatorToken: '-H "Authorization: Bearer $OPERATOR_TOKEN"',
};

/** A command for a POSIX shell that has URL, and KEY and TOKEN or OPERATOR_TOKEN where they are needed. */
export function curlOf(method: Method, path: string, operation: Operation): string {
  const schemes = Object.keys(operation.security[0] ?? {});
  const body = operation.requestBody?.content['application/json'];
  const needed = (operation.parameters ?? []).filter(({ required }) => required);
  const filled = needed.reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), path);
  const query = [
    ...(schemes.includes('accountKey') ? ['key=$KEY'] : []),
    ...needed.flatMap(({ in: place, name, example }) =>
      place === 'query' ? [`${name}=${String(example)}`] : [],
    ),
  ];
  const impliedMethod = body ? 'post' : 'get';
  return [
    `curl "$URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...(method === impliedMethod ? [] : [`-X ${method.toUpperCase()}`]),
    ...schemes.flatMap((scheme) => options[scheme] ?? []),
    ...(body
      ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.example, null, 2))}`]
      : []),
  ].join(' \\\n  ');
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
