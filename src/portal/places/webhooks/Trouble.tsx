import type {
  Delivery,
  DeliveryDetails,
  DeliveryPage,
  WebhookWithHealth,
} from '../../../client/api/types.js';
import { read, withQuery } from '../../api.js';
import { isFailure, isRetrying, outcomeInShort } from '../../in-short.js';
import { DiagnoseLink } from '../../parts/Page.js';
import { now, Time } from '../../parts/Time.js';
import { useRead, useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { attemptSentence } from '../../sentences.js';
import { session } from '../../session.js';
import { wordOf } from '../../words.js';
import { advice, statusOf, waiting } from './summary.js';

/** Says what is wrong with a webhook, since when, its errors, and what to do; or that deliveries wait for a retry. */
export function Trouble({ webhook, latest }: { webhook: WebhookWithHealth; latest: Delivery[] }) {
  const status = statusOf(webhook, webhook.health);
  const { failedSince, disablesAt, pendingCount } = webhook.health;
  if (status === 'ACTIVE')
    return pendingCount > 0 && !latest.some(({ heldBy }) => heldBy === 'RATE') ? (
      <Retries webhook={webhook} />
    ) : null;
  const since = status === 'PAUSED' ? null : failedSince;
  const failed = latest.filter(({ lastAttempt }) => lastAttempt && isFailure(lastAttempt));
  const [last] = failed.toSorted((a, b) => (a.lastAttempt!.startedAt < b.lastAttempt!.startedAt ? 1 : -1));
  const problem = advice(webhook, now.value);
  return (
    <section class={`panel trouble ${status === 'PAUSED' ? 'idle' : ''}`} aria-labelledby="trouble-title">
      <h2 id="trouble-title">
        {wordOf(status)}
        {since && (
          <>
            , without a success since <Time at={since} isExact />
          </>
        )}
      </h2>
      {problem && (
        <p>
          {problem}
          {webhook.status !== 'ACTIVE' && pendingCount > 0 && (
            <>
              {' '}
              <Waiting webhook={webhook} /> {pendingCount === 1 ? 'waits' : 'wait'}.
            </>
          )}
        </p>
      )}
      {webhook.status === 'ACTIVE' && (
        <p>
          Deliveries that failed before wait for their next attempt; once your server works again,{' '}
          <RecoverLink webhook={webhook} /> sends them at once.
        </p>
      )}
      {disablesAt && (
        <p>
          If nothing has succeeded by <Time at={disablesAt} isExact />, this webhook may be disabled then.
        </p>
      )}
      {last && <Last delivery={last} />}
      {failed.length > 1 && (
        <p>
          Errors of its latest deliveries:{' '}
          {kindsOf(failed).map(({ name, filter, count }, index) => (
            <>
              {index > 0 && ', '}
              <Link key={name} href={withQuery('/deliveries', { webhookId: webhook.webhookId, ...filter })}>
                {name}
              </Link>{' '}
              ({count})
            </>
          ))}
          .
        </p>
      )}
    </section>
  );
}

const RecoverLink = ({ webhook: { webhookId } }: { webhook: WebhookWithHealth }) => (
  <Link href={withQuery('/recover', { webhookId })}>Recover</Link>
);

/** Text: "2 deliveries", as a link to those that wait. */
const Waiting = ({ webhook: { webhookId, health } }: { webhook: WebhookWithHealth }) => (
  <Link href={withQuery('/deliveries', { webhookId, status: 'UNFINISHED' })}>
    {waiting(health.pendingCount)} {health.pendingCount === 1 ? 'delivery' : 'deliveries'}
  </Link>
);

/** Says that deliveries still wait for a retry, although the webhook is well again. */
function Retries({ webhook }: { webhook: WebhookWithHealth }) {
  const { webhookId, health } = webhook;
  const address = withQuery('/v1/deliveries', { webhookId, status: 'PENDING', limit: 50 });
  const { data } = useRead<DeliveryPage>(address, 5_000);
  if (!data?.deliveries.some(isRetrying)) return null;
  const [wait, them] = health.pendingCount === 1 ? ['waits', 'it'] : ['wait', 'them'];
  return (
    <p class="banner notice">
      <Waiting webhook={webhook} /> {wait}. <RecoverLink webhook={webhook} /> sends {them} now.
    </p>
  );
}

function Last({ delivery }: { delivery: Delivery }) {
  const { deliveryId, lastAttempt, attemptCount, status } = delivery;
  const { startedAt, statusCode } = lastAttempt!;
  return (
    <>
      <p>
        The last error, <Time at={startedAt} />:{' '}
        <Link href={`/deliveries/${deliveryId}`}>{wordOf(delivery.state)}</Link>.{' '}
        {attemptSentence(lastAttempt!, delivery.eventId)}{' '}
        {statusCode !== null && status !== 'SENDING' && (
          <DiagnoseLink deliveryId={deliveryId} number={attemptCount} />
        )}
      </p>
      {statusCode !== null && !session.value!.readOnly && <Response delivery={delivery} />}
    </>
  );
}

/** Shows how the last response began. It is not read for support unasked, because that goes to the audit log. */
function Response({ delivery: { deliveryId, webhookId, lastAttempt } }: { delivery: Delivery }) {
  const { data: text } = useResource(
    async (signal) => {
      const { attempts } = await read<DeliveryDetails>(`/v1/deliveries/${deliveryId}`, signal);
      const last = attempts.find(({ startedAt }) => startedAt === lastAttempt!.startedAt);
      return inOneLine(last?.responseBody ?? '');
    },
    { key: `${webhookId} ${lastAttempt!.statusCode}`, everyMs: 30_000 },
  );
  if (!text) return null;
  return (
    <p class="long">
      Your server’s response: <code>{text}</code>
    </p>
  );
}

const maxShown = 200;

function inOneLine(body: string): string {
  const characters = [...body.trim().replace(/\s+/g, ' ')];
  return characters.length > maxShown ? `${characters.slice(0, maxShown).join('')}…` : characters.join('');
}

/** The errors of their last attempts, the most frequent first, with the log's filter for each. */
function kindsOf(deliveries: Delivery[]) {
  const kinds = new Map<string, { name: string; filter: Record<string, string>; count: number }>();
  for (const { lastAttempt } of deliveries) {
    const { statusCode, errorCode } = lastAttempt!;
    const isStatus = errorCode === 'HTTP_STATUS' && statusCode !== null;
    const name = isStatus
      ? String(statusCode)
      : outcomeInShort({ ...lastAttempt!, durationMs: 0 }).replace(/ in 0 ms$/, '');
    const filter: Record<string, string> = isStatus ? { statusCode: name } : { errorCode: errorCode ?? '' };
    const kind = kinds.get(name) ?? { name, filter, count: 0 };
    kinds.set(name, { ...kind, count: kind.count + 1 });
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}
