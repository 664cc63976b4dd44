import type { WebhookPage } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { hasInbox } from '../../features.js';
import { Button } from '../../parts/Button.js';
import { Id } from '../../parts/Id.js';
import { Empty, LoadError, Loading, PageHead } from '../../parts/Page.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { showToast } from '../../parts/Toast.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { Arrival } from './Arrival.js';
import { useInbox } from './contents.js';
import { SampleOrder } from './SampleOrder.js';
import { Switch } from './Switch.js';

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
  const webhooks = useResource(
    (signal) => call<WebhookPage>('GET', '/v1/webhooks?limit=250', undefined, { signal }),
    { everyMs: 5_000 },
  );
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
