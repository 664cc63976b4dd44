import { useState } from 'preact/hooks';
import type { DeliveryDetails } from '../../../client/api/types.js';
import { call, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Code } from '../../parts/Id.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { Time } from '../../parts/Time.js';
import { attemptSentence, triggerText } from '../../sentences.js';
import { countText, durationText } from '../../units.js';
import { SectionTitle } from './one-page.js';
import { Phases } from './Phases.js';

type Attempt = DeliveryDetails['attempts'][number];

/** Every attempt, newest first; the log gives a hundred at a time. */
export function Attempts({ delivery }: { delivery: DeliveryDetails }) {
  const [earlier, setEarlier] = useState<Attempt[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const next = cursor === undefined ? delivery.nextAttemptsCursor : cursor;
  const loadEarlier = async () => {
    const address = withQuery(`/v1/deliveries/${delivery.deliveryId}`, { attemptsCursor: next });
    const page = await call<DeliveryDetails>('GET', address);
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
          <AttemptItem key={attempt.number} attempt={attempt} isOpen={index === 0} />
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

function AttemptItem({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }) {
  const { number, trigger, startedAt, durationMs, statusCode, errorCode, remoteAddress } = attempt;
  const isSuccess = errorCode === null && durationMs !== null;
  return (
    <li class="attempt">
      <p class="attempt-head">
        <StatusBadge status={isSuccess ? 'SUCCEEDED' : 'FAILED'}>
          {statusCode ?? (errorCode === null ? 'Interrupted' : errorCode)}
        </StatusBadge>
        <span class="soft">
          Attempt {number}, {triggerText(trigger)}
        </span>
        <span class="attempt-time soft">
          <Time at={startedAt} />
        </span>
      </p>
      <p class="long">{attemptSentence(attempt)}</p>
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

/** Erasing a shipment takes the headers away with the body; an attempt that got a response has them otherwise. */
const noBody = ({ requestHeaders }: Attempt) =>
  requestHeaders === null
    ? 'No body is stored. It may have been erased with the personal data of the shipment.'
    : 'The response has no body.';

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
