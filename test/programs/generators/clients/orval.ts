import { createWebhook, integrateOrder } from './generated/client';
import { key, order, token, webhook } from './sample';

const options = { headers: { authorization: `Bearer ${token}` } };

const created = await createWebhook(webhook, { key }, options);
if (created.status !== 201) throw new Error(created.data.error.message);
const accepted = await integrateOrder(order, { key }, options);
if (accepted.status !== 201) throw new Error(accepted.data.error.message);
const { webhookId } = created.data.data;
const { trackingId } = accepted.data.data;
console.log(JSON.stringify({ webhookId, trackingId }));
