import { useState } from 'preact/hooks';
import type {
  ListedWebhook,
  Replay,
  ReplayPage,
  WebhookWithHealth,
  ReplayProgress,
} from '../../../client/api/types.js';
import { call, withQuery } from '../../api.js';
import { SelectField } from '../../parts/Form.js';
import { Empty, Loading, PageHead, StatusBadge } from '../../parts/Page.js';
import { Time, exact } from '../../parts/Time.js';
import { wordOf } from '../../words.js';
import { useRead, useResource } from '../../poll.js';
import { Link, query, setQuery } from '../../router.js';
import { replayAnswer, replaySentence } from './sentences.js';
import { isWebhookListRead, useWebhookList } from '../webhook-list.js';
import { shortNameOf } from '../webhooks/summary.js';
import { type Range, countReplay } from './count.js';
import { CustomRange } from './CustomRange.js';
import { Offer } from './Offer.js';
import { countText, hourMs } from '../../units.js';
import { Button } from '../../parts/Button.js';

/** Sends again what a webhook missed, and says how much that is before it does. */
export function Recover() {
  const webhooks = useWebhookList();
  const chosen = query.value.get('webhookId') ?? (webhooks.length === 1 ? webhooks[0]!.webhookId : '');
  const webhook = webhooks.find(({ webhookId }) => webhookId === chosen);
  return (
    <>
      <PageHead title="Recover">
        Send again what a webhook missed. Nothing is sent until you press a button.
      </PageHead>
      {!isWebhookListRead() && <Loading />}
      {isWebhookListRead() && webhooks.length === 0 && (
        <Empty title="There is no webhook yet">
          <p>
            <Link href="/webhooks?start=1">Create one</Link>. What was recorded before can be sent to it from
            here.
          </p>
        </Empty>
      )}
      {webhooks.length > 0 && (
        <div class="recover-choice">
          <SelectField
            label="Webhook"
            name="webhookId"
            aria-keyshortcuts="/"
            value={chosen}
            options={webhooks.map(optionOf)}
            onChoose={(webhookId) => setQuery({ webhookId })}
          >
            <option value="" disabled>
              Choose one
            </option>
          </SelectField>
          <Since />
        </div>
      )}
      {webhook && <Recovery key={webhook.webhookId} webhookId={webhook.webhookId} />}
    </>
  );
}

/** With its status, if that is why there is something to recover. */
const optionOf = (webhook: ListedWebhook) => {
  const status = webhook.status === 'ACTIVE' ? '' : ` (${wordOf(webhook.status).toLowerCase()})`;
  return [webhook.webhookId, shortNameOf(webhook) + status] as const;
};

const dayMs = 86_400_000;

function Recovery({ webhookId }: { webhookId: string }) {
  const [openedAt] = useState(Date.now);
  const [answer, setAnswer] = useState('');
  const from = query.value.get('from') ?? new Date(openedAt - dayMs).toISOString();
  const to = query.value.get('to') ?? undefined;
  const replays = useRead<ReplayPage>(`/v1/webhooks/${webhookId}/replays?limit=10`, 1_500);
  const { data: webhook } = useRead<WebhookWithHealth>(`/v1/webhooks/${webhookId}`, 5_000);
  const running = replays.data?.replays.filter((replay) => replay.status === 'RUNNING').length ?? 0;
  const send = async (range: Range) => {
    setAnswer(replayAnswer(await call<Replay>('POST', `/v1/webhooks/${webhookId}/replay`, range)));
    await replays.reload();
  };
  // As a replay ends, or the webhook is called again, there is less to send.
  const counting = `${running} ${!webhook || isCalled(webhook)}`;
  const offer = { webhookId, from, to, counting, onSend: send };
  return (
    <>
      {webhook && <Waits webhook={webhook} isReplaying={running > 0} />}
      <div class="offers">
        <Offer
          {...offer}
          status="FAILED"
          title="What failed"
          act="Send again what failed"
          nothing="Nothing has used up its retries in this time."
        >
          Deliveries whose retries are used up.
        </Offer>
        <Offer
          {...offer}
          status="PENDING"
          title="What is waiting"
          act="Send it now"
          nothing="Nothing waits for a retry in this time."
        >
          Deliveries that failed and wait for a retry.
          {webhook && <Held webhook={webhook} from={from} to={to} counting={counting} />}
        </Offer>
        <Offer
          {...offer}
          status="NEVER_ATTEMPTED"
          title="What was never attempted"
          act="Send what was never attempted"
          nothing="There is nothing from this time that was never attempted."
        >
          States that no attempt was made for, because the webhook was paused, disabled, failing (circuit
          open) or not created yet.
        </Offer>
      </div>
      <p role="status" class="recover-answer">
        {answer}
      </p>
      <CustomRange webhookId={webhookId} from={from} onSend={send} />
      <Replays replays={replays.data?.replays} onChange={replays.reload} />
    </>
  );
}

const isCalled = ({ status, health }: WebhookWithHealth) =>
  status === 'ACTIVE' && health.circuit !== 'OPEN' && health.parkedSince === null;

/** Warns that what is sent waits until the webhook is called again. */
function Waits({ webhook, isReplaying }: { webhook: WebhookWithHealth; isReplaying: boolean }) {
  const { webhookId, status, health } = webhook;
  if (isCalled(webhook)) return null;
  return (
    <div class="problem notice">
      {status !== 'ACTIVE' && (
        <p>
          The webhook is {wordOf(status).toLowerCase()}: what you send again waits until{' '}
          <Link href={`/webhooks/${webhookId}`}>it is resumed</Link>.
          {isReplaying && ' What a replay has waiting is still counted below.'}
        </p>
      )}
      {status === 'ACTIVE' && health.circuit === 'OPEN' && (
        <p>
          The circuit is open: what you send again waits until a probe or{' '}
          <Link href={`/webhooks/${webhookId}`}>a test</Link> succeeds.
        </p>
      )}
      {health.parkedSince !== null && (
        <p>
          It has missed events since <Time at={health.parkedSince} isExact />. They are sent automatically, in
          order, once the webhook is called again.
        </p>
      )}
    </div>
  );
}

interface Props {
  webhook: WebhookWithHealth;
  from: string;
  to: string | undefined;
  counting: string;
}

/** How many deliveries of the span are held, and until when: to send them again would send none sooner. */
function Held({ webhook, from, to, counting }: Props) {
  const { webhookId } = webhook;
  const { data } = useResource(
    (signal) => countReplay(webhookId, { from, to: to ?? new Date().toISOString(), status: 'HELD' }, signal),
    { key: `${from} ${to} ${counting}` },
  );
  if (!data?.found) return null;
  const count = `${countText(data.found, 'delivery is', 'deliveries are')} held`;
  return (
    <>
      {' '}
      <Link href={withQuery('/deliveries', { webhookId, status: 'HELD', from, to })}>
        {data.isAll ? count : `At least ${count}`}
      </Link>{' '}
      {until(webhook)}.
    </>
  );
}

function until({ status, health }: WebhookWithHealth): string {
  if (status !== 'ACTIVE') return 'until you resume the webhook';
  if (health.circuit === 'OPEN') return 'until a probe or a test succeeds';
  return 'until its turn comes';
}

const spans = [
  [String(hourMs), '1 hour ago'],
  [String(24 * hourMs), '24 hours ago'],
  [String(7 * 24 * hourMs), '7 days ago'],
  [String(30 * 24 * hourMs), '30 days ago'],
] as const;

/** The last hours or days; a link may have brought another span, which stays until one is chosen. */
function Since() {
  const [chosenMs, setChosenMs] = useState(String(24 * hourMs));
  const from = query.value.get('from');
  const to = query.value.get('to');
  const [ownFrom, setOwnFrom] = useState<string | null>(null);
  const isGiven = (from !== null && from !== ownFrom) || to !== null;
  const choose = (ms: string) => {
    const moment = new Date(Date.now() - Number(ms)).toISOString();
    setChosenMs(ms);
    setOwnFrom(moment);
    setQuery({ from: moment, to: null });
  };
  return (
    <SelectField
      label="Since"
      name="from"
      value={isGiven ? 'given' : chosenMs}
      options={spans}
      onChoose={choose}
    >
      {isGiven && (
        <option value="given">
          {[from && `From ${exact(from)}`, to && `before ${exact(to)}`].filter(Boolean).join(', ')}
        </option>
      )}
    </SelectField>
  );
}

interface ReplaysProps {
  replays: ReplayProgress[] | undefined;
  onChange: () => Promise<void>;
}

function Replays({ replays, onChange }: ReplaysProps) {
  return (
    <section class="replays" aria-labelledby="replays-title">
      <h2 id="replays-title">Replays</h2>
      {!replays && <Loading rows={2} />}
      {replays?.length === 0 && <p class="soft">None yet for this webhook.</p>}
      <ul>
        {replays?.map((replay) => (
          <ReplayItem key={replay.replayId} replay={replay} onChange={onChange} />
        ))}
      </ul>
    </section>
  );
}

function ReplayItem({ replay, onChange }: { replay: ReplayProgress; onChange: () => Promise<void> }) {
  const { replayId, status, done, total, createdAt, requestedBy } = replay;
  const isRunning = status === 'RUNNING';
  const cancel = async () => {
    await call('POST', `/v1/replays/${replayId}/cancel`);
    await onChange();
  };
  return (
    <li class="replay">
      <div class="replay-head">
        <StatusBadge status={status} />
        <span>{replaySentence(replay)}</span>
        <span class="soft">
          <Time at={createdAt} />
          {requestedBy === 'OPERATOR' && ', by the operator'}
        </span>
        {isRunning && (
          <Button class="small" onClick={cancel}>
            Cancel
          </Button>
        )}
      </div>
      {isRunning && (
        <progress aria-label="Progress" {...(total !== null && { value: done, max: Math.max(1, total) })} />
      )}
      <p class="soft long">{rangeText(replay)}</p>
    </li>
  );
}

function rangeText({ from, to, deliveryStatus, trackingId }: ReplayProgress): string {
  const what = deliveryStatus === null ? 'All that it missed' : wordOf(deliveryStatus);
  const span = `from ${exact(from)} to ${exact(to)}`;
  return `${what}${trackingId ? ` of ${trackingId}` : ''}, ${span}`;
}
