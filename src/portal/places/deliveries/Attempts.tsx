import { useState } from 'preact/hooks';
import type { DeliveryDetails } from '../../../client/api/types.js';
import { read, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Code } from '../../parts/Id.js';
import { DiagnoseLink, StatusBadge } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { attemptSentence, triggerText, waitedSentence } from '../../sentences.js';
import { countText, durationText } from '../../units.js';
import { bodySent, curlCommand } from './as-sent.js';
import { SectionTitle } from './one-page.js';

type Attempt = DeliveryDetails['attempts'][number];

/** It failed although there was a response. */
export const isRefused = ({ errorCode, statusCode }: Attempt) => errorCode !== null && statusCode !== null;

export function Attempts({ delivery }: { delivery: DeliveryDetails }) {
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
          <AttemptItem key={attempt.number} delivery={delivery} attempt={attempt} isOpen={index === 0} />
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
  delivery,
  attempt,
  isOpen,
}: {
  delivery: DeliveryDetails;
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
        {attemptSentence(attempt, delivery.eventId)} {waitedSentence(attempt.waitedMs)}
      </p>
      {!isOpen && isRefused(attempt) && (
        <p>
          <DiagnoseLink deliveryId={delivery.deliveryId} number={number} />
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
        <>
          <details>
            <summary>Headers as sent</summary>
            <Headers headers={attempt.requestHeaders} />
          </details>
          <AsCurl delivery={delivery} headers={attempt.requestHeaders} />
        </>
      )}
      {isSuccess && !attempt.requestHeaders && !isErased(attempt) && (
        <p class="soft">
          The service keeps phases and headers of failures only, unless its operator sets it to keep all.
        </p>
      )}
    </li>
  );
}

function AsCurl({ delivery, headers }: { delivery: DeliveryDetails; headers: Record<string, string> }) {
  const { targetAddress, payload } = delivery;
  const command = curlCommand(targetAddress, headers, bodySent(payload, headers['content-length']));
  return (
    <details>
      <summary>As a curl command</summary>
      <Code text={command} label="Copy as curl" wrap />
      <p class="soft as-curl">
        The command has the address without a query, and the signature as it was sent: a server that checks
        the signature's age refuses the request after five minutes.{' '}
        {isMasked(headers) && 'Fill in the values that are shown as ••••.'}
      </p>
    </details>
  );
}

const isMasked = (headers: Record<string, string>) => Object.values(headers).includes('••••');

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
