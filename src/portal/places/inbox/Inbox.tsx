import type { WebhookPage, OrderResult } from '../../../client/api/types.js';
import { call, isApiError } from '../../api.js';
import { hasInbox, session } from '../../session.js';
import { Button } from '../../parts/Button.js';
import { Id } from '../../parts/Id.js';
import { Empty, LoadError, Loading, PageHead, StatusBadge } from '../../parts/Page.js';
import { showToast } from '../../parts/Toast.js';
import { useRead } from '../../poll.js';
import { Link } from '../../router.js';
import { Arrival } from './Arrival.js';
import { useInbox, type Failure, type Inbox } from './contents.js';
import { useState, useRef } from 'preact/hooks';
import { sampleOrder } from '../../../roles/greeting.js';

/** An address of the service for development, which shows what arrives, checks its signature, and fails on demand. */
export function Inbox() {
  if (hasInbox) return <Contents />;
  return (
    <Empty title="The inbox exists in development only" isPage>
      <p>
        Here, notifications go to the addresses of <Link href="/webhooks">your webhooks</Link> alone.
      </p>
    </Empty>
  );
}

function Contents() {
  const inbox = useInbox();
  const webhooks = useRead<WebhookPage>('/v1/webhooks?limit=250', 5_000);
  const { data } = inbox;
  if (!data) return inbox.error ? <LoadError error={inbox.error} /> : <Loading />;
  const used = webhooks.data?.webhooks.filter(({ targetAddress }) => targetAddress === data.address);
  const connect = async () => {
    await call('POST', '/v1/webhooks', { targetAddress: data.address, interests: ['*'] });
    await webhooks.reload();
    showToast('Every state of your shipments now comes here.');
  };
  const empty = async () => {
    await call('DELETE', '/v1/inbox');
    await inbox.reload();
  };
  return (
    <>
      <PageHead
        title="Inbox"
        actions={
          <Button onClick={empty} disabled={data.total === 0}>
            Empty the inbox
          </Button>
        }
      >
        <p class="soft">
          A receiver to try things with: it shows what arrives, checks its signature, and fails when you ask
          it to. It exists in development only, and forgets everything when the service stops.
        </p>
      </PageHead>
      <div class="inbox">
        <section class="panel" aria-labelledby="inbox-address">
          <h2 id="inbox-address">Its address</h2>
          <p>
            <Id id={data.address} label="Copy the address" />
          </p>
          {used?.length === 0 && (
            <p>
              <Button kind="primary" onClick={connect}>
                Use it as a webhook
              </Button>
            </p>
          )}
          {used?.map(({ webhookId, status }) => (
            <p class="status-line" key={webhookId}>
              <StatusBadge status={status} />
              <Link href={`/webhooks/${webhookId}`}>A webhook</Link> sends here.
            </p>
          ))}
        </section>
        <Switch inbox={data} onChange={inbox.reload} />
        <SampleOrder isNext={used !== undefined && used.length > 0} />
      </div>
      <section aria-labelledby="inbox-arrived">
        <div class="section-head">
          <h2 id="inbox-arrived">What arrived</h2>
          {data.total > 0 && <p class="soft">{data.total} of at most 100, newest first</p>}
        </div>
        {data.total === 0 ? (
          <Empty title="Nothing yet">
            <p>
              {used?.length === 0
                ? 'Press “Use it as a webhook”, then “Place a sample order”: its first notification arrives within a second.'
                : 'Press “Place a sample order”: its first notification arrives within a second.'}
            </p>
          </Empty>
        ) : (
          <ol class="arrived">
            {data.items.map((item) => (
              <Arrival key={item.itemId} item={item} />
            ))}
          </ol>
        )}
      </section>
    </>
  );
}

/**
 * Buttons that make notifications arrive: an order, and a journey of its shipment where the service simulates.
 * `isNext`: a webhook sends to the inbox, so this is the next step.
 */
function SampleOrder({ isNext }: { isNext: boolean }) {
  const [trackingId, setTrackingId] = useState<string | null>(null);
  const [isUnderWay, setIsUnderWay] = useState(false);
  const place = async () => {
    const placed = await call<OrderResult>('POST', '/v1/shipments', sampleOrder(Date.now()));
    setTrackingId(placed.trackingId);
    setIsUnderWay(false);
  };
  const simulate = async () => {
    await call('POST', `/v1/shipments/${trackingId}/simulate`, {});
    setIsUnderWay(true);
  };
  const canSimulate = session.value!.features.simulate;
  return (
    <section class="panel" aria-labelledby="inbox-try">
      <h2 id="inbox-try">Send something</h2>
      <p class="actions">
        <Button kind={isNext && trackingId === null ? 'primary' : 'plain'} onClick={place}>
          {trackingId ? 'Place another order' : 'Place a sample order'}
        </Button>
        {canSimulate && (
          <Button
            kind={trackingId && !isUnderWay ? 'primary' : 'plain'}
            disabled={!trackingId || isUnderWay}
            onClick={simulate}
          >
            Simulate its states
          </Button>
        )}
      </p>
      <p class="hint" aria-live="polite">
        {trackingId === null ? (
          'An order becomes a shipment. Each of its states is a notification.'
        ) : (
          <>
            <Link href={`/shipments/${trackingId}`}>
              <code>{trackingId}</code>
            </Link>{' '}
            {isUnderWay ? 'is on its way: one state a second.' : 'was placed.'}
          </>
        )}
      </p>
    </section>
  );
}

const choices: { fail: Failure | null; name: string; hint: string }[] = [
  { fail: null, name: 'Respond 200', hint: 'Deliveries succeed.' },
  { fail: '500', name: 'Respond 500', hint: 'Each delivery is retried, at growing intervals.' },
  { fail: 'TIMEOUT', name: 'Do not respond', hint: 'Each attempt ends with a timeout.' },
  {
    fail: '410',
    name: 'Respond 410',
    hint: '410 says that the address is gone for good, so the webhook is disabled.',
  },
  { fail: 'RESET', name: 'Reset the connection', hint: 'Each delivery is retried, as after a 500.' },
];

/** How the inbox responds from now on. A choice shows at once, and goes back if the service refuses it. */
function Switch({ inbox, onChange }: { inbox: Inbox; onChange: () => Promise<unknown> }) {
  const [isOnce, setIsOnce] = useState(false);
  /** The choice that is not known to be in effect yet. */
  const [wanted, setWanted] = useState<{ fail: Failure | null } | null>(null);
  const latest = useRef<typeof wanted>(null);
  const current = (wanted ?? inbox).fail;
  const change = async (fail: Failure | null, once: boolean) => {
    const mine = { fail };
    latest.current = mine;
    setWanted(mine);
    try {
      await call('PATCH', '/v1/inbox', { fail, ...(once && fail !== null && { times: 1 }) });
      await onChange();
    } catch (error) {
      if (!isApiError(error)) throw error;
      showToast(error.message, 'bad');
      void onChange();
    } finally {
      if (latest.current === mine) setWanted(null);
    }
  };
  const chosen = choices.find(({ fail }) => fail === current)!;
  return (
    <fieldset class="panel">
      <legend class="unseen">How it responds</legend>
      <h2 aria-hidden="true">How it responds</h2>
      <div class="responses">
        {choices.map(({ fail, name }) => (
          <label class="check" key={name}>
            <input
              type="radio"
              name="fail"
              checked={fail === current}
              onChange={() => void change(fail, isOnce)}
            />
            {name}
          </label>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={isOnce}
          onChange={({ currentTarget: { checked } }) => {
            setIsOnce(checked);
            if (current !== null) void change(current, checked);
          }}
        />
        Fail only once
      </label>
      <p class="hint" aria-live="polite">
        {chosen.hint}
      </p>
    </fieldset>
  );
}
