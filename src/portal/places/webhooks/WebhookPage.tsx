import { useState } from 'preact/hooks';
import type { DeliveryPage, WebhookStats, WebhookWithHealth } from '../../../client/api/types.js';
import { call, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Confirm } from '../../parts/Dialog.js';
import { LoadError, Loading, PageHead, useTitle } from '../../parts/Page.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { now } from '../../parts/Time.js';
import { showToast } from '../../parts/Toast.js';
import { useResource } from '../../poll.js';
import { Link, navigate } from '../../router.js';
import { advice } from './advice.js';
import { forgetWebhookList } from '../webhook-list.js';
import { HealthPanel } from './HealthPanel.js';
import { LatestDeliveries } from './LatestDeliveries.js';
import { RotateDialog } from './Secret.js';
import { Settings } from './Settings.js';
import { nameOf, statusOf } from './summary.js';
import { TestDialog } from './Test.js';
import { WebhookForm } from './WebhookForm.js';

type Asked = 'test' | 'edit' | 'rotate' | 'delete' | 'pause' | null;

/** One webhook: how it is doing, what was sent last, its settings, and all that can be done with it. */
export function WebhookPage({ id = '' }: { id?: string }) {
  const address = `/v1/webhooks/${encodeURIComponent(id)}`;
  const [asked, setAsked] = useState<Asked>(null);
  const webhook = useResource((signal) => call<WebhookWithHealth>('GET', address, undefined, { signal }), {
    key: id,
    everyMs: 5_000,
  });
  const stats = useResource(
    (signal) => call<WebhookStats>('GET', `${address}/stats`, undefined, { signal }),
    {
      key: id,
      everyMs: 30_000,
    },
  );
  const latest = useResource(
    (signal) =>
      call<DeliveryPage>('GET', withQuery('/v1/deliveries', { webhookId: id, limit: 8 }), undefined, {
        signal,
      }),
    { key: id, everyMs: 5_000 },
  );
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
  const problem = advice(data, now.value);
  const isDisabled = data.status === 'DISABLED';
  return (
    <>
      <p class="crumb">
        <Link href="/webhooks">Webhooks</Link>
      </p>
      <PageHead
        title={name}
        actions={
          <>
            <Button kind={isDisabled ? 'plain' : 'primary'} onClick={() => setAsked('test')}>
              Send test
            </Button>
            {data.status === 'ACTIVE' ? (
              <Button onClick={() => setAsked('pause')}>Pause</Button>
            ) : (
              <Button kind={isDisabled ? 'primary' : 'plain'} onClick={() => setStatus('ACTIVE')}>
                Resume
              </Button>
            )}
            <Link class="button" href={withQuery('/recover', { webhookId: id })}>
              Recover…
            </Link>
            <Button onClick={() => setAsked('edit')}>Edit</Button>
            <Button onClick={() => setAsked('rotate')}>Rotate secret</Button>
            <Button kind="danger" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          </>
        }
      >
        <span class="status-line">
          <StatusBadge status={statusOf(data, data.health, stats.data?.hours ?? [], now.value)} />
          {problem && <span>{problem}</span>}
          {data.description && <code class="long">{data.targetAddress}</code>}
        </span>
      </PageHead>
      <div class="webhook-page">
        <div class="webhook-main">
          <HealthPanel webhook={data} stats={stats.data} />
          <LatestDeliveries webhook={data} page={latest.data} />
        </div>
        <Settings webhook={data} />
      </div>
      {asked === 'test' && (
        <TestDialog
          webhook={data}
          onClose={() => {
            close();
            void reload();
          }}
        />
      )}
      {asked === 'edit' && <WebhookForm webhook={data} onClose={close} onSaved={reload} />}
      {asked === 'rotate' && <RotateDialog webhook={data} onClose={close} />}
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
