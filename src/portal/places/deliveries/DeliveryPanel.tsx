import { Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeliveryDetails, DeliveryPage } from '../../../client/api/types.js';
import { call, read, withQuery } from '../../api.js';
import { Button, Choices } from '../../parts/Button.js';
import { Code, Id } from '../../parts/Id.js';
import { DeliveryBadge, DiagnoseLink, Fact, LoadError, Loading, StatusBadge } from '../../parts/Page.js';
import { wordOf } from '../../words.js';
import { now, Time } from '../../parts/Time.js';
import { announce } from '../../parts/Toast.js';
import { useRead, useResource } from '../../poll.js';
import { Link, navigate } from '../../router.js';
import { session } from '../../session.js';
import { blockerOf, freely, isUnfinished } from '../../in-short.js';
import { attemptSentence, deliverySentence } from '../../sentences.js';
import { useWebhookList, webhookName, callsOf } from '../webhook-list.js';
import { nameOf } from '../webhooks/summary.js';
import { isOnePage, SectionTitle } from './one-page.js';
import { Attempts, isRefused } from './Attempts.js';

interface Props {
  id: string;
  /** The addresses of those before and after it in the list; null at its ends. */
  previous: string | null;
  next: string | null;
  onClose: () => void;
  onRead: (delivery: DeliveryDetails) => void;
}

/** One delivery beside the list; on a phone a page of its own. It stays open from one delivery to the next. */
export function DeliveryPanel({ id, previous, next, onClose, onRead }: Props) {
  const [sentAgainId, setSentAgainId] = useState<string | null>(null);
  const isSentAgain = sentAgainId === id;
  const Heading = isOnePage.value ? 'h1' : 'h2';
  const heading = useRef<HTMLHeadingElement>(null);
  const steps = useRef<HTMLDivElement>(null);
  const delivery = useResource(
    async (signal) => {
      const details = await read<DeliveryDetails>(`/v1/deliveries/${id}`, signal);
      onRead(details);
      return { id, details };
    },
    { key: id, everyMs: isSentAgain ? 1_000 : 3_000 },
  );
  const data = delivery.data?.id === id ? delivery.data.details : undefined;
  const error = delivery.isLoading ? null : delivery.error;
  useEffect(() => {
    if (!steps.current?.contains(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, [id]);
  useEffect(() => {
    if (data && steps.current?.contains(document.activeElement))
      announce([wordOf(data.state), data.shipperTrackingId].filter(Boolean).join(', '));
  }, [data?.deliveryId]);
  useEffect(() => {
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      const isElsewhere = document.querySelector('dialog[open], :popover-open');
      if (isElsewhere || (event.target as Element).matches('main :is(input[type=search], select)')) return;
      event.preventDefault();
      onClose();
    };
    addEventListener('keydown', closeOnEscape);
    return () => removeEventListener('keydown', closeOnEscape);
  });
  return (
    <aside class="panel-side" aria-labelledby="delivery-title">
      <header class="panel-head">
        <button type="button" class="link panel-back" onClick={onClose}>
          ← Deliveries
        </button>
        <Heading id="delivery-title" tabIndex={-1} ref={heading}>
          {data ? wordOf(data.state) : 'Delivery'}
        </Heading>
        {data && <DeliveryBadge delivery={data} />}
        <div class="panel-steps" ref={steps}>
          <Step name="Previous delivery" href={previous} path="M3 10.5 8 5.5l5 5" />
          <Step name="Next delivery" href={next} path="M3 5.5l5 5 5-5" />
        </div>
        <button type="button" class="close panel-close" aria-label="Close the delivery" onClick={onClose}>
          ×
        </button>
      </header>
      {error && !data && <LoadError error={error}>The log has no such delivery, or no longer.</LoadError>}
      {!error && !data && <Loading />}
      {data && (
        <Fragment key={id}>
          <p class="summary long">
            <Summary delivery={data} />
          </p>
          <Redeliver
            delivery={data}
            isWatched={isSentAgain}
            onWatch={(isWatched) => setSentAgainId(isWatched ? id : null)}
            reload={delivery.reload}
          />
          <Facts delivery={data} />
          <Attempts delivery={data} />
          <Payload payload={data.payload} />
        </Fragment>
      )}
    </aside>
  );
}

/** Leads to a neighbour, from which Back leads to the list. At the end it keeps the focus, and does nothing. */
const Step = ({ name, href, path }: { name: string; href: string | null; path: string }) => (
  <button
    type="button"
    class="copy"
    aria-label={name}
    title={name}
    aria-disabled={href === null}
    onClick={() => href !== null && navigate(href, { replace: true })}
  >
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  </button>
);

function Summary({ delivery }: { delivery: DeliveryDetails }) {
  const calls = callsOf(useWebhookList(), delivery.webhookId);
  return delivery.heldBy === 'TURN' ? (
    <Turn delivery={delivery} />
  ) : (
    <>{deliverySentence(delivery, isUnfinished(delivery) ? now.value : 0, calls)}</>
  );
}

/** Says which earlier state it waits for. */
function Turn({ delivery }: { delivery: DeliveryDetails }) {
  const { trackingId, webhookId } = delivery;
  const address = withQuery('/v1/deliveries', { trackingId, webhookId, status: 'UNFINISHED', limit: 250 });
  const others = useRead<DeliveryPage>(address, 3_000).data?.deliveries ?? [];
  const blocker = blockerOf(delivery, others);
  const text = deliverySentence(delivery, now.value, freely, blocker);
  return blocker ? <Link href={`/deliveries/${blocker.deliveryId}`}>{text}</Link> : <>{text}</>;
}

function Facts({ delivery }: { delivery: DeliveryDetails }) {
  const { trackingId, shipperTrackingId, webhookId, targetAddress, eventId, deliveryId } = delivery;
  const name = webhookName(useWebhookList(), delivery);
  const isNamed = name !== nameOf({ name: null, description: '', targetAddress });
  return (
    <dl class="facts">
      {trackingId && (
        <Fact name="Shipment">
          <Link href={`/shipments/${trackingId}`}>{shipperTrackingId || trackingId}</Link>
          <br />
          <Id id={trackingId} label="Copy the tracking id" />
        </Fact>
      )}
      <Fact name="Webhook">
        <Link href={`/webhooks/${webhookId}`}>{isNamed ? name : targetAddress}</Link>
        {isNamed && (
          <>
            <br />
            <span class="soft">{targetAddress}</span>
          </>
        )}
      </Fact>
      <Fact name="Recorded">
        <Time at={delivery.createdAt} isExact /> <span class="soft">· </span>
        <Time at={delivery.createdAt} />
      </Fact>
      {delivery.completedAt && (
        <Fact name="Settled">
          <Time at={delivery.completedAt} isExact />
        </Fact>
      )}
      <Fact name="webhook-id">
        <Id id={eventId} label="Copy the webhook-id" />
      </Fact>
      <Fact name="Delivery">
        <Id id={deliveryId} label="Copy the delivery's id" />
      </Fact>
    </dl>
  );
}

interface RedeliverProps {
  delivery: DeliveryDetails;
  isWatched: boolean;
  onWatch: (isWatched: boolean) => void;
  reload: () => Promise<void>;
}

/** A server that does not verify a signature mostly responds so. */
const ofSecret = [400, 401, 403];

/** Sends it again, and says what came of it as soon as the log has the attempt. */
function Redeliver({ delivery, isWatched, onWatch, reload }: RedeliverProps) {
  const [lastNumber, setLastNumber] = useState<number | null>(null);
  const attempt = delivery.attempts.find(({ number }) => lastNumber !== null && number > lastNumber);
  useEffect(() => {
    if (attempt && isWatched) onWatch(false);
  }, [attempt, isWatched]);
  const send = async () => {
    const before = delivery.attempts[0]?.number ?? 0;
    await call('POST', `/v1/deliveries/${delivery.deliveryId}/redeliver`);
    setLastNumber(before);
    onWatch(true);
    await reload();
  };
  const mayBeSent = delivery.status !== 'CANCELLED' && !session.value?.readOnly;
  const [last] = delivery.attempts;
  return (
    <div class="redeliver">
      {!isWatched && last && isRefused(last) && (
        <DiagnoseLink
          deliveryId={delivery.deliveryId}
          number={last.number}
          class={ofSecret.includes(last.statusCode ?? 0) ? 'primary' : 'plain'}
        />
      )}
      {mayBeSent && (
        <Button onClick={send} isBusy={isWatched}>
          {delivery.attemptCount === 0 ? 'Send now' : 'Send again'}
        </Button>
      )}
      <p role="status" class="long">
        {isWatched && 'It is on its way…'}
        {attempt && !isWatched && (
          <>
            <StatusBadge status={attempt.errorCode === null ? 'SUCCEEDED' : 'FAILED'}>
              {attempt.errorCode === null ? 'Sent again' : 'Failed again'}
            </StatusBadge>{' '}
            {attemptSentence(attempt, delivery.eventId)}
          </>
        )}
      </p>
    </div>
  );
}

const forms = ['Formatted', 'Raw'] as const;

function Payload({ payload }: { payload: DeliveryDetails['payload'] }) {
  const [form, setForm] = useState<(typeof forms)[number]>('Formatted');
  return (
    <section aria-labelledby="payload-title">
      <div class="section-head">
        <SectionTitle id="payload-title">Payload</SectionTitle>
        <Choices label="Form of the payload" names={forms} chosen={form} onChoose={setForm} />
      </div>
      <Code
        text={form === 'Raw' ? JSON.stringify(payload) : JSON.stringify(payload, null, 2)}
        label="Copy the payload"
        wrap={form === 'Raw'}
      />
    </section>
  );
}
