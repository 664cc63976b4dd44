import { useEffect, useState } from 'preact/hooks';
import type { Delivery, DeliveryPage, OrderResult } from '../../../client/api/types.js';
import { sampleOrder } from '../../../roles/greeting.js';
import { call, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Code } from '../../parts/Id.js';
import { DeliveryBadge } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { announce } from '../../parts/Toast.js';
import { useRead } from '../../poll.js';
import { Link } from '../../router.js';
import { hasInbox, rememberedKey, session } from '../../session.js';
import { wordOf } from '../../words.js';
import { VerifiedBadge } from '../inbox/Arrival.js';
import { useInbox, type Item } from '../inbox/contents.js';
import { orderCommand } from './snippets.js';

interface Props {
  /** The shipment of the order that was placed last. */
  trackingId: string | null;
  onPlaced: (trackingId: string) => void;
  onDone: () => void;
}

/** Places the sample order, and shows its notifications as they are sent. */
export function FirstOrder({ trackingId, onPlaced, onDone }: Props) {
  const [order] = useState(() => sampleOrder(Date.now()));
  const [isUnderWay, setIsUnderWay] = useState(false);
  const place = async () => {
    const placed = await call<OrderResult>('POST', '/v1/shipments', order);
    setIsUnderWay(false);
    onPlaced(placed.trackingId);
  };
  const simulate = async () => {
    await call('POST', `/v1/shipments/${trackingId}/simulate`, {});
    setIsUnderWay(true);
  };
  return (
    <>
      <p>An order becomes a shipment. Each of its states is a notification, and CREATED comes at once.</p>
      <p class="actions">
        <Button kind={trackingId ? 'plain' : 'primary'} onClick={place}>
          {trackingId ? 'Place another' : 'Place the sample order'}
        </Button>
        {trackingId && session.value!.features.simulate && (
          <Button disabled={isUnderWay} onClick={simulate}>
            Simulate its states
          </Button>
        )}
      </p>
      {trackingId && <Notifications key={trackingId} trackingId={trackingId} onDone={onDone} />}
      <details>
        <summary>The same with curl</summary>
        <Code
          text={orderCommand(location.origin, rememberedKey(), session.value!.user?.email ?? '', order)}
          label="Copy the commands"
        />
      </details>
    </>
  );
}

const useArrivals = hasInbox ? useInbox : () => ({ data: undefined });

function Notifications({ trackingId, onDone }: { trackingId: string; onDone: () => void }) {
  const path = withQuery('/v1/deliveries', { trackingId, limit: 50 });
  const { data } = useRead<DeliveryPage>(path, 1_000);
  const deliveries = data?.deliveries.toReversed() ?? [];
  const sent = deliveries.filter(({ status }) => status === 'SUCCEEDED').length;
  const { data: inbox } = useArrivals();
  const itemOf = ({ eventId, targetAddress }: Delivery) =>
    targetAddress === inbox?.address
      ? inbox.items.find(({ headers }) => headers['webhook-id'] === eventId)
      : undefined;
  const isVerified = deliveries.some((delivery) => itemOf(delivery)?.verified);
  useEffect(() => {
    if (sent === 0) return;
    announce(`${sent} ${sent === 1 ? 'notification' : 'notifications'} delivered`);
  }, [sent]);
  return (
    <div class="arrivals">
      <p>
        Shipment{' '}
        <Link href={`/shipments/${trackingId}`}>
          <code>{trackingId}</code>
        </Link>
        {hasInbox && (
          <>
            {' '}
            · <Link href="/inbox">what arrived in the inbox</Link>
          </>
        )}
      </p>
      <ul>
        {deliveries.map((delivery) => (
          <Arrival key={delivery.deliveryId} delivery={delivery} item={itemOf(delivery)} />
        ))}
      </ul>
      {deliveries.length === 0 && <p class="soft">Waiting for its first notification…</p>}
      {sent > 0 && (
        <>
          <p>
            <strong>Done.</strong>{' '}
            {isVerified ? 'Your inbox verified a notification.' : 'Your server accepted a notification.'}
          </p>
          <p class="actions">
            <Button kind="primary" onClick={onDone}>
              Continue
            </Button>
          </p>
        </>
      )}
    </div>
  );
}

/** `item` is what arrived in the inbox, which verifies it. */
const Arrival = ({ delivery, item }: { delivery: Delivery; item: Item | undefined }) => (
  <li>
    {item ? <VerifiedBadge item={item} /> : <DeliveryBadge delivery={delivery} />}
    <Link href={`/deliveries/${delivery.deliveryId}`}>{wordOf(delivery.state)}</Link>
    <span class="soft cut" title={delivery.targetAddress}>
      {delivery.targetAddress}
    </span>
    <span class="soft">
      <Time at={delivery.createdAt} />
    </span>
  </li>
);
