import createClient from 'openapi-fetch';
import type { paths } from './generated/api';
import { key, order, token, url, webhook } from './sample';

const client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${token}` } });
const query = { key };

const created = await client.POST('/v1/webhooks', { params: { query }, body: webhook });
if (!created.data) throw new Error(created.error.error.message);
const accepted = await client.POST('/v1/shipments', { params: { query }, body: order });
if (!accepted.data) throw new Error(accepted.error.error.message);
const { webhookId } = created.data.data;
const { trackingId } = accepted.data.data;
console.log(JSON.stringify({ webhookId, trackingId }));
