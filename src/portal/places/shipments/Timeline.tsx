import type { Delivery } from '../../../client/api/types.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { wordOf } from '../../words.js';
import { exact, now, Time } from '../../parts/Time.js';
import { Link } from '../../router.js';
import { outcomeInShort, isUnfinished, waitInShort } from '../../sentences.js';
import { useWebhookList, webhookName, statusOfWebhook } from '../webhook-list.js';
import type { Step } from './steps.js';

/** The states on a line, the latest at the end; under each, the webhooks that were notified. `next` may follow. */
export function Timeline({ steps, next }: { steps: Step[]; next: string[] }) {
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
          class={index === steps.length - 1 ? 'now' : ''}
          aria-current={index === steps.length - 1 ? 'step' : undefined}
        >
          <h2>{wordOf(step.state)}</h2>
          <p class="soft">
            <Time at={new Date(step.timestamp).toISOString()} isExact />
            {step.lat !== null && step.lng !== null && ` · ${step.lat}, ${step.lng}`}
          </p>
          <Told step={step} />
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

function Told({ step: { deliveries, recordedAt, state } }: { step: Step }) {
  const webhooks = useWebhookList();
  if (deliveries.length === 0)
    return (
      <p class="soft">
        {recordedAt === null
          ? 'What was sent about it is no longer in the log.'
          : 'No webhook was interested in it.'}
      </p>
    );
  const named = deliveries.map((delivery) => ({ delivery, name: webhookName(webhooks, delivery) }));
  // The same order under each state.
  named.sort((a, b) => a.name.localeCompare(b.name));
  return (
    <ul class="told" aria-label={`Notified of ${wordOf(state)}`}>
      {named.map(({ delivery, name }) => (
        <li key={delivery.deliveryId}>
          <StatusBadge status={delivery.status} />
          <Link class="cut" href={`/deliveries/${delivery.deliveryId}?trackingId=${delivery.trackingId}`}>
            {name}
          </Link>
          <span class="told-when soft">
            <When delivery={delivery} webhookStatus={statusOfWebhook(webhooks, delivery.webhookId)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** When it was told and what it responded, or what the delivery waits for. */
function When({ delivery, webhookStatus }: { delivery: Delivery; webhookStatus: string }) {
  const { status, completedAt, lastAttempt, attemptCount } = delivery;
  const wait = isUnfinished(delivery) && waitInShort(delivery, now.value, webhookStatus);
  const isRetry = status === 'PENDING' && lastAttempt && webhookStatus === 'ACTIVE';
  const parts = [
    completedAt && status === 'SUCCEEDED' && timeFormat.format(new Date(completedAt)),
    lastAttempt && outcomeInShort(lastAttempt),
    status === 'SUCCEEDED' && attemptCount > 1 && `attempt ${attemptCount}`,
    isRetry ? `next attempt ${wait}` : wait,
  ];
  return (
    <span title={completedAt ? exact(completedAt) : undefined}>{parts.filter(Boolean).join(' · ')}</span>
  );
}

const timeFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
