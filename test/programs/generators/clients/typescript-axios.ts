import { Configuration, ShipmentsApi, WebhooksApi } from './generated';
import { key, order, token, url, webhook } from './sample';

const configuration = new Configuration({ basePath: url, accessToken: token });

const created = await new WebhooksApi(configuration).createWebhook(webhook, key);
const accepted = await new ShipmentsApi(configuration).integrateOrder(order, key);
const { webhookId } = created.data.data;
const { trackingId } = accepted.data.data;
console.log(JSON.stringify({ webhookId, trackingId }));
