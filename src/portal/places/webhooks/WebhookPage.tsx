import { useState } from 'preact/hooks';
import type { DeliveryPage, WebhookStats, WebhookWithHealth, Webhook } from '../../../client/api/types.js';
import { call, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Confirm } from '../../parts/Dialog.js';
import {
  DeliveryBadge,
  Fact,
  LoadError,
  Loading,
  PageHead,
  TableHead,
  useTitle,
  StatusBadge,
} from '../../parts/Page.js';
import { now, Time } from '../../parts/Time.js';
import { showToast } from '../../parts/Toast.js';
import { useRead } from '../../poll.js';
import { Link, navigate } from '../../router.js';
import {
  attemptedIn,
  nameOf,
  ownNameOf,
  statusOf,
  count,
  percent,
  totalOf,
  unknownInWords,
  waiting,
} from './summary.js';
import { forgetWebhookList } from '../webhook-list.js';
import { EndEarlierDialog, RotateDialog, SecretCard } from './Secret.js';
import { TestDialog } from './Test.js';
import { orderings, WebhookForm } from './WebhookForm.js';
import type { ComponentChildren } from 'preact';
import { Menu } from '../../parts/Menu.js';
import { Bars } from './Bars.js';
import { Trouble } from './Trouble.js';
import { withoutShipment, wordOf } from '../../words.js';
import { blockerOf, isRetrying, outcomeInShort, waitInShort } from '../../in-short.js';
import { Id } from '../../parts/Id.js';

type Asked = 'test' | 'edit' | 'rotate' | 'end' | 'delete' | 'pause' | null;

/** One webhook: how it is doing, what was sent last, its settings, and all that can be done with it. */
export function WebhookPage({ id = '' }: { id?: string }) {
  const address = `/v1/webhooks/${encodeURIComponent(id)}`;
  const [asked, setAsked] = useState<Asked>(null);
  const webhook = useRead<WebhookWithHealth>(address, 5_000);
  const stats = useRead<WebhookStats>(`${address}/stats`, 30_000);
  const latest = useRead<DeliveryPage>(withQuery('/v1/deliveries', { webhookId: id, limit: 50 }), 5_000);
  const { data, error } = webhook;
  useTitle(data ? nameOf(data) : 'Webhook');
  if (error && (!data || error.status === 404))
    return (
      <LoadError error={error} isPage>
        It may have been deleted. <Link href="/webhooks">Back to the webhooks</Link>
      </LoadError>
    );
  if (!data) return <Loading />;

  const reload = () => Promise.all([webhook.reload(), latest.reload()]);
  const close = () => setAsked(null);
  const closeAndReload = () => {
    close();
    void reload();
  };
  const setStatus = async (status: 'ACTIVE' | 'PAUSED') => {
    await call('PATCH', address, { status });
    forgetWebhookList();
    await reload();
    showToast(
      status === 'ACTIVE'
        ? 'Active again. What it missed is being sent now.'
        : 'Paused. What it misses is held.',
    );
  };
  const remove = async () => {
    await call('DELETE', address);
    showToast('The webhook was deleted.');
    navigate('/webhooks', { replace: true });
  };
  const name = nameOf(data);
  const deliveries = latest.data?.deliveries ?? [];
  const primary = helpsNow(data, deliveries);
  const kindOf = (action: string) => (action === primary ? 'primary' : 'plain');
  const unknown = unknownInWords(data);
  return (
    <>
      <p class="crumb">
        <Link href="/webhooks">Webhooks</Link>
      </p>
      <PageHead
        title={name}
        actions={
          <>
            <Button kind={kindOf('test')} onClick={() => setAsked('test')}>
              Send test
            </Button>
            {data.status === 'ACTIVE' ? (
              <Button onClick={() => setAsked('pause')}>Pause</Button>
            ) : (
              data.pausedBy !== 'OPERATOR' && (
                <Button kind={kindOf('resume')} onClick={() => setStatus('ACTIVE')}>
                  Resume
                </Button>
              )
            )}
            <Link class={`button ${kindOf('recover')}`} href={withQuery('/recover', { webhookId: id })}>
              Recover…
            </Link>
            <Menu label="More">
              <Button onClick={() => setAsked('edit')}>Edit</Button>
              <Button onClick={() => setAsked('rotate')}>Rotate secret</Button>
              <Button kind="danger" onClick={() => setAsked('delete')}>
                Delete
              </Button>
            </Menu>
          </>
        }
      >
        <span class="status-line">
          <StatusBadge status={statusOf(data, data.health)} />
          {unknown && <span class="badge warn">{unknown}</span>}
          {ownNameOf(data) && <code class="long">{data.targetAddress}</code>}
        </span>
      </PageHead>
      <Trouble webhook={data} latest={deliveries} />
      <div class="webhook-page">
        <div class="webhook-main">
          <HealthPanel webhook={data} stats={stats.data} latest={latest.data?.deliveries} />
          <LatestDeliveries webhook={data} page={latest.data} />
        </div>
        <div class="webhook-aside">
          <SecretCard
            secrets={data.secrets}
            onRotate={() => setAsked('rotate')}
            onEnd={() => setAsked('end')}
          />
          <Settings webhook={data} />
        </div>
      </div>
      {asked === 'test' && <TestDialog webhook={data} onClose={closeAndReload} />}
      {asked === 'edit' && <WebhookForm webhook={data} onClose={close} onSaved={reload} />}
      {asked === 'rotate' && <RotateDialog webhook={data} onClose={closeAndReload} />}
      {asked === 'end' && <EndEarlierDialog webhook={data} onClose={closeAndReload} />}
      {asked === 'pause' && (
        <Confirm
          title="Pause this webhook?"
          action="Pause webhook"
          onConfirm={() => setStatus('PAUSED')}
          onClose={close}
        >
          <p class="long">
            Nothing will be sent to {name} until you resume it. What it misses is held, and sent then.
          </p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title="Delete this webhook?"
          action="Delete webhook"
          isDangerous
          onConfirm={remove}
          onClose={close}
        >
          <p class="long">
            {name} will get no more notifications. Its unfinished deliveries will be cancelled
            {data.health.pendingCount > 0 && `: ${data.health.pendingCount} at present`}. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** The action that its owner most likely needs next. */
function helpsNow(
  { status, health }: WebhookWithHealth,
  latest: DeliveryPage['deliveries'],
): 'resume' | 'recover' | 'test' {
  if (status !== 'ACTIVE') return 'resume';
  const isWell = health.circuit === 'CLOSED' && health.failedSince === null;
  const isOwed = latest.some((delivery) => delivery.status === 'FAILED' || isRetrying(delivery));
  return isWell && isOwed ? 'recover' : 'test';
}

/** The last 24 hours in figures and bars. */
function HealthPanel({
  webhook,
  stats,
  latest,
}: {
  webhook: WebhookWithHealth;
  stats: WebhookStats | undefined;
  latest: DeliveryPage['deliveries'] | undefined;
}) {
  const { health } = webhook;
  const isUntried =
    health.lastSuccessAt === null && latest?.every(({ attemptCount }) => attemptCount === 0) === true;
  const hours = stats?.hours ?? [];
  const { attempts, failed, share } = totalOf(hours);
  const { webhookId } = webhook;
  return (
    <section class="panel health" aria-labelledby="health-title">
      <h2 id="health-title">Last 24 hours</h2>
      <dl class="figures">
        <Figure name="Success">{share === null ? '–' : percent(share)}</Figure>
        <Figure name="Attempts">
          <Attempts webhookId={webhookId} hours={hours} number={attempts} />
        </Figure>
        <Figure name="Failed attempts">
          <Attempts webhookId={webhookId} hours={hours} number={failed} isFailed />
        </Figure>
        <Figure name="Waiting">
          {health.pendingCount === 0 ? (
            0
          ) : (
            <Link href={withQuery('/deliveries', { webhookId, status: 'UNFINISHED' })}>
              {waiting(health.pendingCount)}
            </Link>
          )}
        </Figure>
        <Figure name="Last success">
          <Time at={health.lastSuccessAt} />
        </Figure>
      </dl>
      {attempts > 0 && <Bars webhookId={webhookId} hours={hours} />}
      {attempts === 0 && stats && isUntried && (
        <p class="soft">No attempts. Send a test, or wait for the next state of a shipment.</p>
      )}
      {health.parkedSince && (
        <p class="soft">
          Too many deliveries were waiting. What this webhook has missed since{' '}
          <Time at={health.parkedSince} isExact /> is stored as a position in your events, and becomes
          deliveries, in order, when the webhook is called again.
        </p>
      )}
    </section>
  );
}

interface AttemptsProps {
  webhookId: string;
  hours: WebhookStats['hours'];
  number: number;
  isFailed?: boolean;
}

/** A count of attempts leads to their deliveries, which may be fewer. */
function Attempts({ webhookId, hours, number, isFailed }: AttemptsProps) {
  if (number === 0) return <>0</>;
  const attemptFailed = isFailed ? 'true' : undefined;
  const what = `${isFailed ? 'failed ' : ''}${number === 1 ? 'attempt' : 'attempts'}`;
  return (
    <Link
      class={isFailed ? 'tone-bad' : undefined}
      href={withQuery('/deliveries', { webhookId, ...attemptedIn(hours), attemptFailed })}
      title="Leads to the deliveries of these attempts; one delivery may have several"
      aria-label={`${count(number)} ${what}. Leads to their deliveries.`}
    >
      {count(number)}
    </Link>
  );
}

const Figure = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** The last deliveries of a webhook, and links to all of them and to what failed. */
function LatestDeliveries({ webhook, page }: { webhook: Webhook; page: DeliveryPage | undefined }) {
  const { webhookId } = webhook;
  const shown = page?.deliveries.slice(0, 8);
  const logOf = (filter: Record<string, string>) => withQuery('/deliveries', { webhookId, ...filter });
  return (
    <section aria-labelledby="latest-title">
      <div class="section-head">
        <h2 id="latest-title">Latest deliveries</h2>
        <p>
          <Link href={logOf({})}>All</Link> · <Link href={logOf({ status: 'FAILED' })}>Failed</Link> ·{' '}
          <Link href={logOf({ status: 'HELD' })}>Held</Link>
        </p>
      </div>
      {!shown && <Loading />}
      {shown?.length === 0 && <p class="soft">Nothing has been sent to it yet, apart from tests.</p>}
      {shown && shown.length > 0 && (
        <div class="table-wrap">
          <table class="latest">
            <TableHead columns={['State', 'Status', 'Last response', 'Created']} />
            <tbody>
              {shown.map((delivery) => (
                <tr key={delivery.deliveryId}>
                  <th scope="row">
                    <Link href={`/deliveries/${delivery.deliveryId}`}>{wordOf(delivery.state)}</Link>
                    <small class="soft cut">{delivery.shipperTrackingId ?? withoutShipment(delivery)}</small>
                  </th>
                  <td>
                    <DeliveryBadge delivery={delivery} />{' '}
                    <small class="soft wait">
                      {waitInShort(delivery, now.value, webhook, blockerOf(delivery, page!.deliveries))}
                    </small>
                  </td>
                  <td data-label="Response">{outcomeInShort(delivery.lastAttempt)}</td>
                  <td>
                    <Time at={delivery.createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** The settings as they are; Edit changes them. */
function Settings({ webhook }: { webhook: Webhook }) {
  const headers = Object.keys(webhook.headers);
  return (
    <section class="panel" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      <dl class="facts">
        {webhook.name && <Fact name="Name">{webhook.name}</Fact>}
        {webhook.name && webhook.description && <Fact name="Description">{webhook.description}</Fact>}
        <Fact name="Address">
          <code>{webhook.targetAddress}</code>
        </Fact>
        <Fact name="States">
          {webhook.interests.map((name) => (name === '*' ? 'All' : wordOf(name))).join(', ')}
        </Fact>
        {webhook.unknownInterests.length > 0 && (
          <Fact name="Unknown states">{webhook.unknownInterests.join(', ')}</Fact>
        )}
        <Fact name="Order">{orderings[webhook.ordering]}</Fact>
        <Fact name="Undelivered states">
          {webhook.supersede ? 'Skipped when a later one is recorded' : 'All sent'}
        </Fact>
        {webhook.notifyEmail !== null && (
          <Fact name="Told by e-mail">
            {webhook.notifyEmail}
            {!webhook.notifyEmailConfirmed && ' (not confirmed yet)'}
          </Fact>
        )}
        {webhook.maxPerSecond !== null && <Fact name="At most per second">{webhook.maxPerSecond}</Fact>}
        <Fact name="Headers">
          {headers.length === 0
            ? 'None'
            : headers.map((name) => (
                <code class="header-name" key={name}>
                  {name}
                </code>
              ))}
        </Fact>
        <Fact name="Created">
          <Time at={webhook.createdAt} />
        </Fact>
        <Fact name="Changed">
          <Time at={webhook.updatedAt} />
        </Fact>
        <Fact name="Id">
          <Id id={webhook.webhookId} label="Copy the webhook's id" />
        </Fact>
      </dl>
    </section>
  );
}
