import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeliveryDetails, DeliveryPage } from '../../../client/api/types.js';
import { call, read, withQuery } from '../../api.js';
import { Button, Choices } from '../../parts/Button.js';
import { Code, Id } from '../../parts/Id.js';
import { DeliveryBadge, DiagnoseLink, Fact, LoadError, Loading, StatusBadge } from '../../parts/Page.js';
import { wordOf } from '../../words.js';
import { now, Time } from '../../parts/Time.js';
import { useRead, useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { blockerOf, isUnfinished } from '../../in-short.js';
import { attemptSentence, deliverySentence, triggerText, waitedSentence } from '../../sentences.js';
import { useWebhookList, webhookName, statusOfWebhook } from '../webhook-list.js';
import { nameOf } from '../webhooks/summary.js';
import { isOnePage, SectionTitle } from './one-page.js';
import { countText, durationText } from '../../units.js';

interface Props {
  id: string;
  onClose: () => void;
  onRead: (delivery: DeliveryDetails) => void;
}

/** One delivery beside the list; on a phone a page of its own. */
export function DeliveryPanel({ id, onClose, onRead }: Props) {
  const [isSentAgain, setIsSentAgain] = useState(false);
  const Heading = isOnePage.value ? 'h1' : 'h2';
  const heading = useRef<HTMLHeadingElement>(null);
  const delivery = useResource(
    async (signal) => {
      const details = await read<DeliveryDetails>(`/v1/deliveries/${id}`, signal);
      onRead(details);
      return details;
    },
    { key: id, everyMs: isSentAgain ? 1_000 : 3_000 },
  );
  const { data, error } = delivery;
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const closeOnEscape = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    onClose();
  };
  return (
    <aside class="panel-side" aria-labelledby="delivery-title" onKeyDown={closeOnEscape}>
      <header class="panel-head">
        <button type="button" class="link panel-back" onClick={onClose}>
          ← Deliveries
        </button>
        <Heading id="delivery-title" tabIndex={-1} ref={heading}>
          {data ? wordOf(data.state) : 'Delivery'}
        </Heading>
        {data && <DeliveryBadge delivery={data} />}
        <button type="button" class="close panel-close" aria-label="Close the delivery" onClick={onClose}>
          ×
        </button>
      </header>
      {error && !data && <LoadError error={error}>The log has no such delivery, or no longer.</LoadError>}
      {!error && !data && <Loading />}
      {data && (
        <>
          <p class="summary long">
            <Summary delivery={data} />
          </p>
          <Redeliver
            delivery={data}
            isWatched={isSentAgain}
            onWatch={setIsSentAgain}
            reload={delivery.reload}
          />
          <Facts delivery={data} />
          <Attempts delivery={data} />
          <Payload payload={data.payload} />
        </>
      )}
    </aside>
  );
}

function Summary({ delivery }: { delivery: DeliveryDetails }) {
  const status = statusOfWebhook(useWebhookList(), delivery.webhookId);
  return delivery.heldBy === 'TURN' ? (
    <Turn delivery={delivery} />
  ) : (
    <>{deliverySentence(delivery, isUnfinished(delivery) ? now.value : 0, status)}</>
  );
}

/** Says which earlier state it waits for. */
function Turn({ delivery }: { delivery: DeliveryDetails }) {
  const { trackingId, webhookId } = delivery;
  const address = withQuery('/v1/deliveries', { trackingId, webhookId, status: 'UNFINISHED', limit: 250 });
  const others = useRead<DeliveryPage>(address, 3_000).data?.deliveries ?? [];
  const blocker = blockerOf(delivery, others);
  const text = deliverySentence(delivery, now.value, 'ACTIVE', blocker);
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
  const isCancelled = delivery.status === 'CANCELLED';
  const [last] = delivery.attempts;
  return (
    <div class="redeliver">
      {!isWatched && last && isRefused(last) && (
        <DiagnoseLink deliveryId={delivery.deliveryId} number={last.number} class="primary" />
      )}
      {!isCancelled && (
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
            {attemptSentence(attempt)}
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

type Attempt = DeliveryDetails['attempts'][number];

/** It failed although there was a response. */
const isRefused = ({ errorCode, statusCode }: Attempt) => errorCode !== null && statusCode !== null;

function Attempts({ delivery }: { delivery: DeliveryDetails }) {
  const [earlier, setEarlier] = useState<Attempt[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const next = cursor === undefined ? delivery.nextAttemptsCursor : cursor;
  const loadEarlier = async () => {
    const address = withQuery(`/v1/deliveries/${delivery.deliveryId}`, { attemptsCursor: next });
    const page = await read<DeliveryDetails>(address);
    setEarlier((before) => [...before, ...page.attempts]);
    setCursor(page.nextAttemptsCursor);
  };
  const oldest = delivery.attempts.at(-1)?.number ?? 0;
  // New attempts push old ones from the first page to where `earlier` begins.
  const attempts: Attempt[] = [...delivery.attempts, ...earlier.filter(({ number }) => number < oldest)];
  return (
    <section aria-labelledby="attempts-title">
      <SectionTitle id="attempts-title">
        {countText(delivery.attemptCount, 'attempt', 'attempts')}
      </SectionTitle>
      {attempts.length === 0 && (
        <p class="soft">{isUnsent(delivery) ? 'Nothing has been sent yet.' : 'None has finished yet.'}</p>
      )}
      <ol class="attempts">
        {attempts.map((attempt, index) => (
          <AttemptItem
            key={attempt.number}
            deliveryId={delivery.deliveryId}
            attempt={attempt}
            isOpen={index === 0}
          />
        ))}
      </ol>
      {next && (
        <p class="more">
          <Button onClick={loadEarlier}>Earlier attempts</Button>
        </p>
      )}
    </section>
  );
}

const isUnsent = ({ status, attemptCount }: DeliveryDetails) =>
  attemptCount === 0 && (status === 'HELD' || status === 'PENDING');

function AttemptItem({
  deliveryId,
  attempt,
  isOpen,
}: {
  deliveryId: string;
  attempt: Attempt;
  isOpen: boolean;
}) {
  const { number, startedAt, durationMs, statusCode, errorCode, remoteAddress } = attempt;
  const isSuccess = errorCode === null && durationMs !== null;
  return (
    <li class="attempt">
      <p class="attempt-head">
        <StatusBadge status={isSuccess ? 'SUCCEEDED' : 'FAILED'}>
          {statusCode ?? (errorCode === null ? 'Interrupted' : errorCode)}
        </StatusBadge>
        <span class="soft">
          Attempt {number}, {triggerText(attempt)}
        </span>
        <span class="attempt-time soft">
          <Time at={startedAt} />
        </span>
      </p>
      <p class="long">
        {attemptSentence(attempt)} {waitedSentence(attempt.waitedMs)}
      </p>
      {!isOpen && isRefused(attempt) && (
        <p>
          <DiagnoseLink deliveryId={deliveryId} number={number} />
        </p>
      )}
      <Phases attempt={attempt} />
      <p class="soft attempt-facts">
        <Time at={startedAt} isExact />
        {durationMs !== null && <> · {durationText(durationMs)}</>}
        {remoteAddress && (
          <>
            {' · '}
            <code>{remoteAddress}</code>
          </>
        )}
      </p>
      <Response attempt={attempt} isOpen={isOpen} />
      {attempt.requestHeaders && (
        <details>
          <summary>Headers as sent</summary>
          <Headers headers={attempt.requestHeaders} />
        </details>
      )}
      {isSuccess && !attempt.requestHeaders && !isErased(attempt) && (
        <p class="soft">
          The service keeps phases and headers of failures only, unless its operator sets it to keep all.
        </p>
      )}
    </li>
  );
}

function Response({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }) {
  const { statusCode, responseBody, responseHeaders } = attempt;
  if (statusCode === null) return null;
  if (!responseBody && !responseHeaders) return <p class="soft">{noBody(attempt)}</p>;
  return (
    <details open={isOpen}>
      <summary>Response</summary>
      {responseHeaders && <Headers headers={responseHeaders} />}
      {responseBody ? (
        <Code text={responseBody} label="Copy the response" wrap />
      ) : (
        <p class="soft">{noBody(attempt)}</p>
      )}
    </details>
  );
}

/** A response without a body has an empty one; one that could not be read has none, and says why. */
const isErased = ({ responseBody, errorDetail }: Attempt) => responseBody === null && errorDetail === null;

function noBody(attempt: Attempt): string {
  if (isErased(attempt))
    return 'No body is stored. It may have been erased with the personal data of the shipment.';
  return attempt.responseBody === null ? 'Its body was not read.' : 'The response has no body.';
}

const Headers = ({ headers }: { headers: Record<string, string> }) => (
  <dl class="headers">
    {Object.entries(headers).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

type PhaseTimes = Pick<
  DeliveryDetails['attempts'][number],
  'durationMs' | 'dnsMs' | 'connectMs' | 'tlsMs' | 'firstByteMs'
>;

const width = 400;
const height = 6;

/** Where the time of an attempt went, as a bar and in words. */
function Phases({ attempt }: { attempt: PhaseTimes }) {
  const parts = [
    { name: 'DNS', ms: attempt.dnsMs },
    { name: 'connect', ms: attempt.connectMs },
    { name: 'TLS', ms: attempt.tlsMs },
    { name: 'first byte', ms: attempt.firstByteMs },
  ].filter((part): part is { name: string; ms: number } => part.ms !== null);
  if (parts.length === 0) return null;
  const known = parts.reduce((sum, { ms }) => sum + ms, 0);
  const wholeMs = Math.max(attempt.durationMs ?? 0, known, 1);
  let at = 0;
  return (
    <div class="phases">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width={width} height={height} />
        {parts.map(({ name, ms }) => {
          const x = at;
          at += (ms / wholeMs) * width;
          return <rect key={name} class={`phase-${name.slice(0, 3)}`} x={x} width={at - x} height={height} />;
        })}
      </svg>
      <ul>
        {parts.map(({ name, ms }) => (
          <li key={name} class={`phase-${name.slice(0, 3)}`}>
            {name} {durationText(ms)}
          </li>
        ))}
      </ul>
    </div>
  );
}
