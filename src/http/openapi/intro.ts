/** Groups of operations, in the order in which an integrator needs them. */
export const tags = [
  {
    name: 'Shipments',
    description: 'Place orders, and follow the shipments created from them.',
  },
  {
    name: 'Webhooks',
    description: 'Have state changes pushed to an address of yours instead of polling for them.',
  },
  {
    name: 'Deliveries',
    description: 'What was sent to your webhooks, attempt by attempt, and how to send it again.',
  },
  {
    name: 'Events',
    description: 'The states of your shipments as a feed: follow it, or compare it with what arrived.',
  },
  {
    name: 'Notifications',
    description:
      'What your webhooks receive: requests that the service sends. See [Receiving](/docs/receiving).',
  },
  { name: 'Accounts', description: 'Access tokens and passwords. The operator registers accounts.' },
  {
    name: 'Operator',
    description: 'For the operator of the service: accounts, state events and maintenance.',
  },
  { name: 'Health', description: 'For load balancers and monitoring; also this document.' },
] as const;

export type Tag = (typeof tags)[number]['name'];

export const title = 'Parcelhook';

export const introduction = `
A webhook relay for shipments. Place orders and register webhooks. Every state of a shipment is then sent to the webhooks interested in it: signed, retried and logged.

Requests and responses are JSON in UTF-8; bodies have at most 256 KiB, 10,000 values and 32 levels, no U+0000, and no field named \`__proto__\` or \`constructor\`. In fields that are stored as sent (\`items\`, \`evidences\`, \`anomalies\`), integers beyond 9007199254740991 are refused: send them as text. So is every number of more digits than a double keeps. Every endpoint under \`/v1\` takes your account key as the query parameter \`key\`, and all but login and \`/v1/password-link\` take an access token as \`Authorization: Bearer <token>\`. The token of a program (\`POST /v1/tokens\`) takes the place of both.

A success is \`{version, status, timestamp, data}\`, a failure \`{version, status, timestamp, error}\`, where \`status\` is a code to act on and \`error.details\` names every wrong field. New fields may be added at any time: ignore those you do not know. The service ignores unknown body fields, too, and names the first 100 in \`warnings\` beside \`data\`, with the nearest field that exists, and how many more there are. A value that is accepted but may be a mistake is named there, too. It refuses query parameters that are unknown or given more than once.

Every response has \`X-Request-Id\`: the one you sent, if it is 1 to 128 letters, digits, \`_\`, \`.\` or \`-\`, or a new one. Quote it when you ask for help.

\`timestamp\` is in milliseconds since 1970; other times in responses are ISO 8601 with an offset. A time in a request is ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds); the dates of an order are ISO 8601 with an offset. Lists are paged: send \`nextCursor\` of one page as \`cursor\`, with the same filters, to get the next.
`.trim();

export const securitySchemes = {
  accountKey: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'Account key, the same for every user of one shipper.',
  },
  credentials: {
    type: 'http',
    scheme: 'basic',
    description: "The user's e-mail address and password.",
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token that login returned. Log in again when it has expired.',
  },
  programToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token that a user made for a program (`phk_…`). The key may be left out: the token names its shipper. Each operation says which scope it takes.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-parcelhook',
    description:
      'The session of a user in the portal, for its pages only. The name is `parcelhook-session` where `PUBLIC_URL` is not https. The key may be left out. Requests need `Sec-Fetch-Site: same-origin`, which browsers set by themselves, and all but GET need `Parcelhook-Csrf: 1`. A request with `Authorization` ignores the cookie.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The `OPERATOR_TOKEN` that the service was started with, or one of `OPERATOR_TOKENS`. The scope `read` allows GET, `events` allows recording state events, `admin` allows everything.',
  },
};

/** Some clients apply only the first scheme of an alternative: that is the token, and the key is a parameter as well. */
export const securityOf = {
  none: [],
  login: [{ credentials: [], accountKey: [] }],
  session: [{}, { cookie: [] }],
  shipper: [{ accessToken: [], accountKey: [] }, { cookie: [] }],
  program: [{ programToken: [] }],
  operator: [{ operatorToken: [] }],
};
