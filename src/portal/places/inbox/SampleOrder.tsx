import { useState } from 'preact/hooks';
import type { OrderResult } from '../../../client/api/types.js';
import { sampleOrder } from '../../../roles/greeting.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Link } from '../../router.js';
import { session } from '../../session.js';

/**
 * Something to arrive: an order, and a journey of its shipment where the service simulates. `isNext`: a webhook sends to
 * the inbox, so this is the next step.
 */
export function SampleOrder({ isNext }: { isNext: boolean }) {
  const [trackingId, setTrackingId] = useState<string | null>(null);
  const [isUnderWay, setIsUnderWay] = useState(false);
  const place = async () => {
    const placed = await call<OrderResult>('POST', '/v1/shipments', sampleOrder(Date.now()));
    setTrackingId(placed.trackingId);
    setIsUnderWay(false);
  };
  const simulate = async () => {
    await call('POST', `/v1/shipments/${trackingId}/simulate`, {});
    setIsUnderWay(true);
  };
  const canSimulate = session.value!.features.simulate;
  return (
    <section class="panel" aria-labelledby="inbox-try">
      <h2 id="inbox-try">Send something</h2>
      <p class="actions">
        <Button kind={isNext && trackingId === null ? 'primary' : 'plain'} onClick={place}>
          {trackingId ? 'Place another order' : 'Place a sample order'}
        </Button>
        {canSimulate && (
          <Button
            kind={trackingId && !isUnderWay ? 'primary' : 'plain'}
            disabled={!trackingId || isUnderWay}
            onClick={simulate}
          >
            Simulate its states
          </Button>
        )}
      </p>
      <p class="hint" aria-live="polite">
        {trackingId === null ? (
          'An order becomes a shipment. Each of its states is a notification.'
        ) : (
          <>
            <Link href={`/shipments/${trackingId}`}>
              <code>{trackingId}</code>
            </Link>{' '}
            {isUnderWay ? 'is on its way: one state a second.' : 'was placed.'}
          </>
        )}
      </p>
    </section>
  );
}
