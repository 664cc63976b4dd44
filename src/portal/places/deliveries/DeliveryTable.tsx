import type { Delivery } from '../../../client/api/types.js';
import type { Page } from '../../list/window.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { withoutShipment, wordOf } from '../../words.js';
import { now, Time } from '../../parts/Time.js';
import { Link, navigate } from '../../router.js';
import { outcomeInShort, isUnfinished, waitInShort } from '../../sentences.js';
import { useWebhookList, webhookName, statusOfWebhook } from '../webhook-list.js';

interface Props {
  pages: Page<Delivery>[];
  selected: string | undefined;
  addressOf: (deliveryId: string) => string;
}

/** A row opens its delivery; its link is what the keyboard reaches. */
export function DeliveryTable({ pages, selected, addressOf }: Props) {
  const webhooks = useWebhookList();
  return (
    <div class="table-wrap">
      <table class="deliveries">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">State</th>
            <th scope="col">Shipment</th>
            <th scope="col">Webhook</th>
            <th scope="col" class="number">
              Attempts
            </th>
            <th scope="col">Last response</th>
            <th scope="col" class="number">
              Time
            </th>
          </tr>
        </thead>
        {pages.map(({ cursor, rows }) => (
          <tbody key={cursor ?? ''}>
            {rows.map((delivery) => (
              <Row
                key={delivery.deliveryId}
                delivery={delivery}
                webhook={webhookName(webhooks, delivery)}
                webhookStatus={statusOfWebhook(webhooks, delivery.webhookId)}
                isSelected={delivery.deliveryId === selected}
                href={addressOf(delivery.deliveryId)}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

interface RowProps {
  delivery: Delivery;
  webhook: string;
  webhookStatus: string;
  isSelected: boolean;
  href: string;
}

function Row({ delivery, webhook, webhookStatus, isSelected, href }: RowProps) {
  const { deliveryId, status, state, shipperTrackingId, attemptCount, createdAt } = delivery;
  const open = (event: MouseEvent) => {
    const isOnLink = (event.target as Element).closest('a, button');
    if (!isOnLink && !getSelection()?.toString()) navigate(href);
  };
  return (
    <tr data-row={deliveryId} class={isSelected ? 'selected' : ''} onClick={open}>
      <td class="delivery-status">
        <StatusBadge status={status} />
        {isUnfinished(delivery) && <Wait delivery={delivery} webhookStatus={webhookStatus} />}
      </td>
      <th scope="row" class="delivery-state">
        <Link href={href} aria-current={isSelected ? 'true' : undefined}>
          {wordOf(state)}
        </Link>
      </th>
      <td class="delivery-shipment cut">
        {shipperTrackingId ?? <span class="soft">{withoutShipment(delivery)}</span>}
      </td>
      <td class="delivery-webhook cut" title={webhook}>
        {webhook}
      </td>
      <td class="delivery-attempts number">{attemptCount}</td>
      <td class="delivery-response cut">{outcomeInShort(delivery.lastAttempt)}</td>
      <td class="delivery-time number">
        <Time at={createdAt} />
      </td>
    </tr>
  );
}

/** Apart, so that the clock draws only this again. */
const Wait = ({ delivery, webhookStatus }: { delivery: Delivery; webhookStatus: string }) => (
  <small class="soft">{waitInShort(delivery, now.value, webhookStatus)}</small>
);
