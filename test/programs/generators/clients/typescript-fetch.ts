import { Configuration, ShipmentsApi, WebhooksApi } from './generated';
import { key, order, token, url, webhook } from './sample';

const configuration = new Configuration({ basePath: url, accessToken: token });

const created = await new WebhooksApi(configuration).createWebhook({ key, webhookRegistration: webhook });
const accepted = await new ShipmentsApi(configuration).integrateOrder({
  key,
  order: {
    ...order,
    shipperDropoffDate: new Date(order.shipperDropoffDate),
    expectedDeliveryDate: new Date(order.expectedDeliveryDate),
    _package: order.package,
  },
});
const { webhookId } = created.data;
const { trackingId } = accepted.data;
console.log(JSON.stringify({ webhookId, trackingId }));
