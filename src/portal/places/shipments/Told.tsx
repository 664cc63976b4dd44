import type { Delivery } from '../../../client/api/types.js';
import { call } from '../../api.js';
import {
  blockerOf,
  isCalled,
  isRetrying,
  isUnfinished,
  outcomeInShort,
  waitInShort,
  type Calls,
} from '../../in-short.js';
import { Button } from '../../parts/Button.js';
import { DeliveryBadge, StatusBadge } from '../../parts/Page.js';
import { exact, now } from '../../parts/Time.js';
import { Link } from '../../router.js';
import { session } from '../../session.js';
import { endInWords } from '../../sentences.js';
import { wordOf } from '../../words.js';
import { isWebhookListRead, callsOf, useWebhookList, webhookName } from '../webhook-list.js';
import { nameOf } from '../webhooks/summary.js';
import { untoldOf, type Step } from './steps.js';

interface Props {
  step: Step;
  /** All of the shipment. */
  deliveries: Delivery[];
  onSent: () => Promise<void>;
}

/** Every webhook of the account, and when it was told of the state, or why not. */
export function Told({ step, deliveries, onSent }: Props) {
  const webhooks = useWebhookList();
  if (step.recordedAt === null && step.deliveries.length === 0)
    return <p class="soft">What was sent about it is no longer in the log.</p>;
  const told = step.deliveries.map((delivery) => ({ delivery, name: webhookName(webhooks, delivery) }));
  const untold = untoldOf(step, webhooks).map(({ webhook, why }) => ({
    webhook,
    why,
    name: nameOf(webhook),
  }));
  if (told.length + untold.length === 0)
    return <p class="soft">{isWebhookListRead() && 'There is no webhook to tell.'}</p>;
  // The webhooks have the same order under each state.
  const rows = [
    ...told.map(({ delivery, name }) => ({
      name,
      row: <Row key={delivery.deliveryId} {...{ delivery, name, deliveries, onSent }} />,
    })),
    ...untold.map(({ webhook, why, name }) => ({
      name,
      row: (
        <li key={webhook.webhookId}>
          <StatusBadge status="CANCELLED">Not sent</StatusBadge>
          <Link class="cut" href={`/webhooks/${webhook.webhookId}`}>
            {name}
          </Link>
          <span class="told-when soft">{why}</span>
        </li>
      ),
    })),
  ];
  rows.sort((a, b) => a.name.localeCompare(b.name));
  return (
    <ul class="told" aria-label={`Notified of ${wordOf(step.state)}`}>
      {rows.map(({ row }) => row)}
    </ul>
  );
}

function Row({
  delivery,
  name,
  deliveries,
  onSent,
}: {
  delivery: Delivery;
  name: string;
  deliveries: Delivery[];
  onSent: () => Promise<void>;
}) {
  const webhooks = useWebhookList();
  const sendAgain = async () => {
    await call('POST', `/v1/deliveries/${delivery.deliveryId}/redeliver`);
    await onSent();
  };
  return (
    <li>
      <DeliveryBadge delivery={delivery} />
      <Link class="cut" href={`/deliveries/${delivery.deliveryId}?trackingId=${delivery.trackingId}`}>
        {name}
      </Link>
      <span class="told-when soft">
        <When
          delivery={delivery}
          calls={callsOf(webhooks, delivery.webhookId)}
          blocker={blockerOf(delivery, deliveries)}
        />
        {(delivery.status === 'FAILED' || isRetrying(delivery)) && !session.value?.readOnly && (
          <>
            {' '}
            <Button class="small" onClick={sendAgain} aria-label={`Send again to ${name}`}>
              Send again
            </Button>
          </>
        )}
      </span>
    </li>
  );
}

function When({ delivery, calls, blocker }: { delivery: Delivery; calls: Calls; blocker: Delivery | null }) {
  const { status, completedAt, lastAttempt, attemptCount } = delivery;
  const wait = isUnfinished(delivery) && waitInShort(delivery, now.value, calls, blocker);
  const isTimed = isRetrying(delivery) && isCalled(calls);
  const parts = [
    completedAt && status === 'SUCCEEDED' && timeFormat.format(new Date(completedAt)),
    lastAttempt && outcomeInShort(lastAttempt),
    status === 'SUCCEEDED' && attemptCount > 1 && `attempt ${attemptCount}`,
    isTimed ? `next attempt ${wait}` : wait,
    endInWords(delivery),
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
