import { useState } from 'preact/hooks';
import type { ListedWebhook, Replay, ReplayPage, WebhookWithHealth } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Empty, Loading, PageHead } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { wordOf } from '../../words.js';
import { useResource } from '../../poll.js';
import { Link, query, setQuery } from '../../router.js';
import { replayAnswer } from '../../sentences.js';
import { isWebhookListRead, useWebhookList } from '../webhook-list.js';
import { shortNameOf } from '../webhooks/summary.js';
import type { Range } from './count.js';
import { CustomRange } from './CustomRange.js';
import { Held } from './Held.js';
import { Offer } from './Offer.js';
import { Replays } from './Replays.js';
import { Since } from './Since.js';

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
          <WebhookChoice webhooks={webhooks} chosen={chosen} />
          <Since />
        </div>
      )}
      {webhook && <Recovery key={webhook.webhookId} webhookId={webhook.webhookId} />}
    </>
  );
}

const WebhookChoice = ({ webhooks, chosen }: { webhooks: ListedWebhook[]; chosen: string }) => (
  <div class="field">
    <label for="recover-webhook">Webhook</label>
    <select
      id="recover-webhook"
      value={chosen}
      onChange={(event) => setQuery({ webhookId: event.currentTarget.value })}
    >
      <option value="" disabled>
        Choose one
      </option>
      {webhooks.map((webhook) => (
        <option key={webhook.webhookId} value={webhook.webhookId}>
          {shortNameOf(webhook)}
          {webhook.status !== 'ACTIVE' && ` (${wordOf(webhook.status).toLowerCase()})`}
        </option>
      ))}
    </select>
  </div>
);

const dayMs = 86_400_000;

function Recovery({ webhookId }: { webhookId: string }) {
  const [openedAt] = useState(Date.now);
  const [answer, setAnswer] = useState('');
  const from = query.value.get('from') ?? new Date(openedAt - dayMs).toISOString();
  const to = query.value.get('to') ?? undefined;
  const replays = useResource(
    (signal) => call<ReplayPage>('GET', `/v1/webhooks/${webhookId}/replays?limit=10`, undefined, { signal }),
    { everyMs: 1_500 },
  );
  const { data: webhook } = useResource(
    (signal) => call<WebhookWithHealth>('GET', `/v1/webhooks/${webhookId}`, undefined, { signal }),
    { everyMs: 5_000 },
  );
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
