import type { DeliveryPage, Webhook } from '../../../client/api/types.js';
import { withQuery } from '../../api.js';
import { Loading } from '../../parts/Page.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { withoutShipment, wordOf } from '../../words.js';
import { now, Time } from '../../parts/Time.js';
import { Link } from '../../router.js';
import { outcomeInShort, waitInShort } from '../../sentences.js';

/** The last deliveries of a webhook, and links to all of them and to what failed. */
export function LatestDeliveries({
  webhook: { webhookId, status },
  page,
}: {
  webhook: Webhook;
  page: DeliveryPage | undefined;
}) {
  const logOf = (filter: Record<string, string>) => withQuery('/deliveries', { webhookId, ...filter });
  return (
    <section aria-labelledby="latest-title">
      <div class="section-head">
        <h2 id="latest-title">Latest deliveries</h2>
        <p>
          <Link href={logOf({})}>All</Link> · <Link href={logOf({ status: 'FAILED' })}>Failed</Link> ·{' '}
          <Link href={logOf({ status: 'HELD' })}>Held</Link>
        </p>
      </div>
      {!page && <Loading />}
      {page?.deliveries.length === 0 && (
        <p class="soft">Nothing has been sent to it yet, apart from tests.</p>
      )}
      {page && page.deliveries.length > 0 && (
        <div class="table-wrap">
          <table class="latest">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Status</th>
                <th scope="col">Last response</th>
                <th scope="col">Created</th>
              </tr>
            </thead>
            <tbody>
              {page.deliveries.map((delivery) => (
                <tr key={delivery.deliveryId}>
                  <th scope="row">
                    <Link href={`/deliveries/${delivery.deliveryId}`}>{wordOf(delivery.state)}</Link>
                    <small class="soft cut">{delivery.shipperTrackingId ?? withoutShipment(delivery)}</small>
                  </th>
                  <td>
                    <StatusBadge status={delivery.status} />{' '}
                    <small class="soft wait">{waitInShort(delivery, now.value, status)}</small>
                  </td>
                  <td data-label="Response">{outcomeInShort(delivery.lastAttempt)}</td>
                  <td>
                    <Time at={delivery.createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
