import type { Delivery, WebhookWithHealth } from '../../../client/api/types.js';
import { withQuery } from '../../api.js';
import { isFailure, outcomeInShort } from '../../in-short.js';
import { DiagnoseLink } from '../../parts/Page.js';
import { now, Time } from '../../parts/Time.js';
import { Link } from '../../router.js';
import { attemptSentence } from '../../sentences.js';
import { wordOf } from '../../words.js';
import { advice, statusOf } from './summary.js';

/** Says what is wrong with a webhook, since when, its errors, and what to do; nothing if all is well. */
export function Trouble({ webhook, latest }: { webhook: WebhookWithHealth; latest: Delivery[] }) {
  const status = statusOf(webhook, webhook.health);
  if (status === 'ACTIVE') return null;
  const { failedSince, disablesAt } = webhook.health;
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
      {problem && <p>{problem}</p>}
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

function Last({ delivery }: { delivery: Delivery }) {
  const { deliveryId, lastAttempt, attemptCount, status } = delivery;
  const { startedAt, statusCode } = lastAttempt!;
  return (
    <p>
      The last error, <Time at={startedAt} />:{' '}
      <Link href={`/deliveries/${deliveryId}`}>{wordOf(delivery.state)}</Link>.{' '}
      {attemptSentence(lastAttempt!)}{' '}
      {statusCode !== null && status !== 'SENDING' && (
        <DiagnoseLink deliveryId={deliveryId} number={attemptCount} />
      )}
    </p>
  );
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
