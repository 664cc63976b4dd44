import { useEffect, useState } from 'preact/hooks';
import type { Delivery, DeliveryPage, OrderResult } from '../../../client/api/types.js';
import { sampleOrder } from '../../../first-order.js';
import { call, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Code } from '../../parts/Id.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { wordOf } from '../../words.js';
import { Time } from '../../parts/Time.js';
import { announce } from '../../parts/Toast.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { rememberedKey, session } from '../../session.js';
import { hasInbox } from '../../features.js';
import { orderCommand } from './snippets.js';

/** Places the sample order, and shows its notifications as they are sent. */
export function FirstOrder() {
  const [order] = useState(() => sampleOrder(Date.now()));
  const [placed, setPlaced] = useState<OrderResult | null>(null);
  const place = async () => {
    setPlaced(await call<OrderResult>('POST', '/v1/shipments', order));
  };
  return (
    <>
      <p>An order becomes a shipment. Each of its states is a notification, and CREATED comes at once.</p>
      <p class="actions">
        <Button kind={placed ? 'plain' : 'primary'} onClick={place}>
          {placed ? 'Place another' : 'Place the sample order'}
        </Button>
        {placed && session.value!.features.simulate && (
          <Button
            kind="primary"
            onClick={() => call('POST', `/v1/shipments/${placed.trackingId}/simulate`, {})}
          >
            Simulate its states
          </Button>
        )}
      </p>
      {placed && <Notifications key={placed.trackingId} trackingId={placed.trackingId} />}
      <details>
        <summary>The same with curl</summary>
        <Code
          text={orderCommand(location.origin, rememberedKey(), session.value!.user.email, order)}
          label="Copy the commands"
        />
      </details>
    </>
  );
}

function Notifications({ trackingId }: { trackingId: string }) {
  const path = withQuery('/v1/deliveries', { trackingId, limit: 50 });
  const { data } = useResource((signal) => call<DeliveryPage>('GET', path, undefined, { signal }), {
    everyMs: 1_000,
  });
  const deliveries = data?.deliveries.toReversed() ?? [];
  const sent = deliveries.filter(({ status }) => status === 'SUCCEEDED').length;
  useEffect(() => {
    if (sent > 0) announce(`${sent} ${sent === 1 ? 'notification' : 'notifications'} delivered`);
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
          <Arrival key={delivery.deliveryId} delivery={delivery} />
        ))}
      </ul>
      {deliveries.length === 0 && <p class="soft">Waiting for its first notification…</p>}
    </div>
  );
}

const Arrival = ({ delivery }: { delivery: Delivery }) => (
  <li>
    <StatusBadge status={delivery.status} />
    <Link href={`/deliveries/${delivery.deliveryId}`}>{wordOf(delivery.state)}</Link>
    <span class="soft cut" title={delivery.targetAddress}>
      {delivery.targetAddress}
    </span>
    <span class="soft">
      <Time at={delivery.createdAt} />
    </span>
  </li>
);
