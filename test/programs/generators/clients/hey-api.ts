import { createWebhook, integrateOrder } from './generated';
import { client } from './generated/client.gen';
import { key, order, token, url, webhook } from './sample';

client.setConfig({ baseUrl: url, auth: ({ type }) => (type === 'http' ? token : undefined) });
const common = { query: { key }, throwOnError: true } as const;

const created = await createWebhook({ ...common, body: webhook });
const accepted = await integrateOrder({ ...common, body: order });
const { webhookId } = created.data.data;
const { trackingId } = accepted.data.data;
console.log(JSON.stringify({ webhookId, trackingId }));
