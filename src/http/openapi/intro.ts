/** Groups of operations, in the order in which an integrator needs them. */
export const tags = [
  { name: 'Accounts', description: 'Access tokens and passwords. The operator registers accounts.' },
  {
    name: 'Shipments',
    description: 'Hand over orders and follow the shipments that come of them.',
  },
  {
    name: 'Webhooks',
    description: 'Have state changes pushed to an address of yours instead of asking for them.',
  },
  {
    name: 'Deliveries',
    description: 'What was sent to your webhooks, attempt by attempt, and sending it again.',
  },
  {
    name: 'Events',
    description: 'The states of your shipments as a feed: what you follow, or compare with what arrived.',
  },
  {
    name: 'Operator',
    description: 'For who runs the service: accounts, state events and maintenance.',
  },
  { name: 'Health', description: 'For load balancers and monitoring, and this document.' },
] as const;

export type Tag = (typeof tags)[number]['name'];

export const title = 'Parcelhook';

export const introduction = `
A webhook relay and notification gateway for shipments. Hand over orders, register webhooks, and every state of every shipment is sent to the webhooks interested in it: signed, retried and logged.

Requests and answers are JSON in UTF-8; bodies have at most 256 KiB and 10,000 values. Every operation under \`/v1\` takes your account key as the query parameter \`key\`, and all but login the header \`Authorization: Bearer\` with an access token.

A success is \`{version, status, timestamp, data}\`, a failure \`{version, status, timestamp, error}\`, where \`status\` is a code to act on and \`error.details\` names every wrong field. New fields may come at any time: ignore those you do not know. Fields of yours that the service does not know are ignored, too; a query parameter that an operation does not have is refused.

Every answer bears \`X-Request-Id\`: the one you sent, if it is 1 to 128 letters, digits, \`_\`, \`.\` or \`-\`, or a new one. Name it when you ask for help.

\`timestamp\` is in milliseconds since 1970; other moments are ISO 8601 with an offset. Lists come in pages: send \`nextCursor\` of one page as \`cursor\` for the next.
`.trim();

/** What proves who is calling, by the name under which operations refer to it. */
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
    description: 'Token that login answers; log in again when it has expired.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The `OPERATOR_TOKEN` that the service was started with, or one of `OPERATOR_TOKENS`: scope `read` is for GET, `events` for recording state events, `admin` for everything.',
  },
};

export const securityOf = {
  login: [{ accountKey: [], credentials: [] }],
  shipper: [{ accountKey: [], accessToken: [] }],
  operator: [{ operatorToken: [] }],
};
