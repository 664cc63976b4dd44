import { useState } from 'preact/hooks';
import type {
  Delivery,
  DeliveryPage,
  EventPage,
  States,
  Tracking,
  Journey,
} from '../../../client/api/types.js';
import { call, read, readPages, withQuery } from '../../api.js';
import { Id } from '../../parts/Id.js';
import { LoadError, Loading, PageHead, useTitle, StatusBadge } from '../../parts/Page.js';
import { useRead, useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { session } from '../../session.js';
import { useWebhookList } from '../webhook-list.js';
import { OrderCard } from './Order.js';
import { behindText, stepsOf, untoldOf, type Step } from './steps.js';
import { Told } from './Told.js';
import { Button } from '../../parts/Button.js';
import { wordOf } from '../../words.js';
import { countText } from '../../units.js';
import { Time } from '../../parts/Time.js';

/** Where a shipment is, how it got there, and which webhook was told when. */
export function ShipmentPage({ trackingId }: { trackingId: string }) {
  const [isHurried, setIsHurried] = useState(false);
  const { data, error, reload } = useResource((signal) => readShipment(trackingId, signal), {
    key: trackingId,
    everyMs: isHurried ? 1_000 : 3_000,
  });
  const catalogue = useRead<States>('/v1/states');
  const webhooks = useWebhookList();
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
  const steps = stepsOf(tracking.history, events, deliveries);
  const latest = steps.at(-1);
  const summary = behindText(latest, deliveries, latest && untoldOf(latest, webhooks));
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
          {summary && <a href="#now">{summary}</a>}
          <Id id={tracking.trackingId} label="Copy the tracking id" />
        </span>
      </PageHead>
      <div class="shipment-page">
        <Timeline
          steps={steps}
          next={next}
          deliveries={deliveries}
          onSent={async () => {
            setIsHurried(true);
            await reload();
          }}
        />
        {session.value?.features.simulate && !session.value.readOnly && known && !known.terminal && (
          <Simulation
            trackingId={trackingId}
            next={next}
            onBegun={async () => {
              setIsHurried(true);
              await reload();
            }}
          />
        )}
        <OrderCard trackingId={tracking.trackingId} />
      </div>
    </>
  );
}

/** Of 250 deliveries. */
const maxPages = 4;

/** Reads the shipment's history, events and deliveries, as far as the log goes back. */
async function readShipment(trackingId: string, signal: AbortSignal) {
  const tracking = await read<Tracking>(`/v1/shipment-tracking/${trackingId}`, signal);
  const [{ events }, deliveries] = await Promise.all([
    read<EventPage>(withQuery('/v1/events', { trackingId, limit: 250 }), signal),
    readPages<DeliveryPage>(
      (cursor) => withQuery('/v1/deliveries', { trackingId, limit: 250, cursor }),
      maxPages,
      signal,
    ),
  ]);
  return { tracking, events, deliveries: deliveries.flatMap((page) => page.deliveries) };
}

interface Props {
  trackingId: string;
  next: string[];
  onBegun: () => Promise<void>;
}

/** Buttons that move a simulated shipment on: all the way, or by one state. */
function Simulation({ trackingId, next, onBegun }: Props) {
  const [begun, setBegun] = useState('');
  const simulate = async (body: object) => {
    const { states, intervalMs } = await call<Journey>('POST', `/v1/shipments/${trackingId}/simulate`, body);
    const seconds = intervalMs / 1_000;
    setBegun(
      states.length === 1
        ? `On its way to ${wordOf(states[0]!)}.`
        : `On its way through ${countText(states.length, 'state', 'states')}, one every ${seconds} s.`,
    );
    await onBegun();
  };
  return (
    <section class="panel simulation" aria-labelledby="simulate-title">
      <h2 id="simulate-title">Simulate</h2>
      <p class="soft">Your webhooks are told as if the parcel had moved.</p>
      <div class="simulate">
        <Button kind="primary" onClick={() => simulate({ intervalMs: 2_000 })}>
          Run to Delivered
        </Button>
        <div class="simulate-next" role="group" aria-label="One state">
          {next.map((state) => (
            <Button key={state} class="small" onClick={() => simulate({ states: [state] })}>
              {wordOf(state)}
            </Button>
          ))}
        </div>
      </div>
      <p role="status">{begun}</p>
    </section>
  );
}

/** The states on a line, the latest at the end; under each, the webhooks that were notified. `next` may follow. */
function Timeline({
  steps,
  next,
  deliveries,
  onSent,
}: {
  steps: Step[];
  next: string[];
  deliveries: Delivery[];
  onSent: () => Promise<void>;
}) {
  return (
    <ol class="timeline" aria-label="States">
      {steps.length === 0 && (
        <li class="next">
          <h2>Accepted</h2>
          <p class="soft">It will be created in a moment.</p>
        </li>
      )}
      {steps.map((step, index) => (
        <li
          key={index}
          id={index === steps.length - 1 ? 'now' : undefined}
          class={index === steps.length - 1 ? 'now' : ''}
          aria-current={index === steps.length - 1 ? 'step' : undefined}
        >
          <h2>{wordOf(step.state)}</h2>
          <p class="soft">
            <Time at={new Date(step.timestamp).toISOString()} isExact />
            {step.lat !== null && step.lng !== null && ` · ${step.lat}, ${step.lng}`}
          </p>
          <Told step={step} deliveries={deliveries} onSent={onSent} />
        </li>
      ))}
      {steps.length > 0 && next.length > 0 && (
        <li class="next">
          <p class="soft">
            Next:{' '}
            {next
              .map(wordOf)
              .join(', ')
              .replace(/, ([^,]*)$/, ' or $1')}
          </p>
        </li>
      )}
    </ol>
  );
}
