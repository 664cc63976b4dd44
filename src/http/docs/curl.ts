import type { Method, OpenApiDocument, Operation } from '../openapi/schemas.js';

/** One argument of a POSIX shell, whatever is in it. */
export const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Logs in with `URL` and `KEY`, and sets `TOKEN`. `user` is curl's, quoted for the shell: without a password it asks for
 * one.
 */
export const logInCommand = (user: string) =>
  `TOKEN=$(curl -fsS "$URL/v1/login?key=$KEY" -u ${user} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;

/** The document as the page shows it: each operation with a command to paste, and what the commands need. */
export function forPage(document: OpenApiDocument, baseUrl: string) {
  return {
    ...document,
    info: {
      ...document.info,
      license: undefined,
      description: `${document.info.description}\n\n${commandsIntro(baseUrl)}`,
    },
    paths: Object.fromEntries(
      Object.entries(document.paths).map(([path, item]) => [
        path,
        Object.fromEntries(
          Object.entries(item).map(([method, operation]) => [
            method,
            {
              ...operation,
              // The cookie is for the portal's own pages.
              security: operation.security.filter((scheme) => !('cookie' in scheme)),
              'x-codeSamples': [
                { lang: 'shell', label: 'curl', source: curlOf(method as Method, path, operation) },
              ],
            },
          ]),
        ),
      ]),
    ),
  };
}

const commandsIntro = (baseUrl: string) => `## Commands

Every operation has a command for a POSIX shell with curl. The commands need these variables:

\`\`\`sh
URL=${baseUrl}
KEY='your account key' EMAIL='your e-mail address' PASSWORD='your password'
${logInCommand('"$EMAIL:$PASSWORD"')}
\`\`\`

Some need an id from a response: \`TRACKING_ID\` from an order, \`WEBHOOK_ID\` from a webhook, \`DELIVERY_ID\` from the
deliveries, \`REPLAY_ID\` from a replay, \`TOKEN_ID\` from a token, \`SESSION_ID\` from your sessions. The operator's need \`OPERATOR_TOKEN\`, and some
\`SHIPPER_ID\` from the shippers or \`USER_ID\` from a shipper's users.`;

/** curl options by security scheme. */
const curlOptions: Record<string, string> = {
  credentials: '-u "$EMAIL:$PASSWORD"',
  accessToken: '-H "Authorization: Bearer $TOKEN"',
  operatorToken: '-H "Authorization: Bearer $OPERATOR_TOKEN"',
};

/** A command for a POSIX shell with URL, and KEY and TOKEN or OPERATOR_TOKEN where needed, set. An id is a variable, too. */
export function curlOf(method: Method, path: string, operation: Operation): string {
  const schemes = Object.keys(operation.security[0] ?? {});
  const body = operation.requestBody?.content['application/json'];
  // The command of an operator's read always names one shipper, and that of an order a key, although neither must.
  const needed = (operation.parameters ?? []).filter(
    ({ required, name }) => required || name === 'shipperId' || name === 'Idempotency-Key',
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`);
  const query = [
    ...(schemes.includes('accountKey') ? ['key=$KEY'] : []),
    ...needed.flatMap(({ in: place, name, example }) =>
      place === 'query' ? [`${name}=${name.endsWith('Id') ? `$${variableOf(name)}` : String(example)}`] : [],
    ),
  ];
  const impliedMethod = body ? 'post' : 'get';
  return [
    `curl "$URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...(method === impliedMethod ? [] : [`-X ${method.toUpperCase()}`]),
    ...schemes.flatMap((scheme) => curlOptions[scheme] ?? []),
    ...needed.flatMap(({ in: place, name, example }) =>
      place === 'header' ? [`-H ${shellQuoted(`${name}: ${String(example)}`)}`] : [],
    ),
    ...(body
      ? ["-H 'Content-Type: application/json'", `-d ${shellQuoted(JSON.stringify(body.example, null, 2))}`]
      : []),
  ].join(' \\\n  ');
}

/** `trackingId` is `TRACKING_ID`. */
const variableOf = (name: string) => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
