import { useState } from 'preact/hooks';
import type {
  Delivery,
  DeliveryPage,
  EventPage,
  FeedEvent,
  States,
  Tracking,
} from '../../../client/api/types.js';
import { call, withQuery } from '../../api.js';
import { Id } from '../../parts/Id.js';
import { LoadError, Loading, PageHead, useTitle } from '../../parts/Page.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { session } from '../../session.js';
import { Simulation } from './Simulation.js';
import { Timeline } from './Timeline.js';
import { stepsOf } from './steps.js';

/** Where a shipment is, how it got there, and which webhook was told when. */
export function ShipmentPage({ trackingId }: { trackingId: string }) {
  const [isSimulated, setIsSimulated] = useState(false);
  const { data, error, reload } = useResource((signal) => readShipment(trackingId, signal), {
    key: trackingId,
    everyMs: isSimulated ? 1_000 : 3_000,
  });
  const catalogue = useResource((signal) => call<States>('GET', '/v1/states', undefined, { signal }));
  useTitle(data?.tracking.shipperTrackingId ?? trackingId);
  const back = (
    <p class="crumb">
      <Link href="/shipments">Shipments</Link>
    </p>
  );
  if (!data)
    return (
      <>
        {back}
        {error ? (
          <LoadError error={error} isPage>
            No shipment has this tracking id. <Link href="/shipments">Find it by your own number</Link>
          </LoadError>
        ) : (
          <Loading />
        )}
      </>
    );
  const { tracking, events, deliveries } = data;
  const { state } = tracking;
  const known = catalogue.data?.states.find((one) => one.state === state);
  const next = state === null ? [] : (known?.next ?? []);
  return (
    <>
      {back}
      <PageHead
        title={tracking.shipperTrackingId}
        actions={
          <Link class="button" href={withQuery('/deliveries', { trackingId })}>
            Its deliveries
          </Link>
        }
      >
        <span class="status-line">
          {state ? <StatusBadge status={state} /> : <span>Not created yet</span>}
          <Id id={tracking.trackingId} label="Copy the tracking id" />
        </span>
      </PageHead>
      <div class="shipment-page">
        <Timeline steps={stepsOf(tracking.history, events, deliveries)} next={next} />
        {session.value?.features.simulate && known && !known.terminal && (
          <Simulation
            trackingId={trackingId}
            next={next}
            onBegun={async () => {
              setIsSimulated(true);
              await reload();
            }}
          />
        )}
      </div>
    </>
  );
}

const maxDeliveries = 1_000;

/** Its history, and the events and deliveries that belong to it, as far as the log goes back. */
async function readShipment(trackingId: string, signal: AbortSignal) {
  const tracking = await call<Tracking>('GET', `/v1/shipment-tracking/${trackingId}`, undefined, { signal });
  const [events, deliveries] = await Promise.all([
    readEvents(trackingId, signal),
    readDeliveries(trackingId, signal),
  ]);
  return { tracking, events, deliveries };
}

async function readEvents(trackingId: string, signal: AbortSignal): Promise<FeedEvent[]> {
  const { events } = await call<EventPage>(
    'GET',
    withQuery('/v1/events', { trackingId, limit: 250 }),
    undefined,
    { signal },
  );
  return events;
}

async function readDeliveries(trackingId: string, signal: AbortSignal): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  let cursor: string | null = null;
  do {
    const address = withQuery('/v1/deliveries', { trackingId, limit: 250, cursor });
    const page: DeliveryPage = await call<DeliveryPage>('GET', address, undefined, { signal });
    deliveries.push(...page.deliveries);
    cursor = page.nextCursor;
  } while (cursor && deliveries.length < maxDeliveries);
  return deliveries;
}
