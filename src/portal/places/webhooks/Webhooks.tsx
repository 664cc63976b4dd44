import { useEffect, useState } from 'preact/hooks';
import type { ListedWebhook, WebhookPage as Page } from '../../../client/api/types.js';
import { readPages, withQuery } from '../../api.js';
import { Button, Choices } from '../../parts/Button.js';
import { lazy } from '../../parts/lazy.js';
import { LoadError, Loading, PageHead, StatusBadge, TableHead } from '../../parts/Page.js';
import { Sparkline } from '../../parts/Sparkline.js';
import { wordOf } from '../../words.js';
import { now, Time } from '../../parts/Time.js';
import { useResource } from '../../poll.js';
import { Link, navigate, query, setQuery } from '../../router.js';
import { countText } from '../../units.js';
import { keepWebhookList } from '../webhook-list.js';
import { notices } from './catalogue.js';
import {
  attemptedIn,
  attemptsInWords,
  hasProblem,
  interestsInWords,
  isShownAs,
  nameOf,
  ownNameOf,
  percent,
  problemsFirst,
  shortNameOf,
  statusOf,
  totalOf,
  trouble,
  unknownInWords,
  waiting,
} from './summary.js';

const WebhookForm = lazy(async () => (await import('../on-demand.js')).WebhookForm);
const QuickStart = lazy(async () => (await import('../on-demand.js')).QuickStart);
const SecretDialog = lazy(async () => (await import('../on-demand.js')).SecretDialog);
const TestDialog = lazy(async () => (await import('../on-demand.js')).TestDialog);
/** As many as a shipper may have by default: those with a problem come first among all that are read. */
const pageSize = 100;
const largestPage = 250;
/** The list can be narrowed to one of them; all pages are read for it. */
const shownStatuses = ['PROBLEM', 'FAILING', 'OPEN', 'PAUSED', 'DISABLED'];
const manyWebhooks = 10;

/** The list with the health of each at a glance; without any, the quick start. */
export function Webhooks() {
  const [pages, setPages] = useState(1);
  const [dialog, setDialog] = useState<
    'create' | { secret: string; webhookId: string } | { test: ListedWebhook } | null
  >(null);
  const show = query.value.get('status') ?? '';
  const { data, error, isLoading, reload } = useResource(
    (signal) => (show ? readWebhooks(maxPages, largestPage, signal) : readWebhooks(pages, pageSize, signal)),
    { key: `${pages} ${show}`, everyMs: 10_000 },
  );
  const isStarting = query.value.has('start') || data?.webhooks.length === 0;
  const close = () => setDialog(null);
  const webhooks = problemsFirst(
    data?.webhooks.filter((webhook) => !show || isShownAs(statusOf(webhook, webhook.health), show)) ?? [],
  );
  const ill = webhooks.filter((webhook) => hasProblem(webhook));
  useEffect(() => {
    if (data && !data.nextCursor) keepWebhookList(data.webhooks);
  }, [data]);
  if (error && !data) return <LoadError error={error} isPage />;
  return (
    <>
      <PageHead
        title={isStarting ? 'Quick start' : 'Webhooks'}
        actions={
          data &&
          (isStarting ? (
            data.webhooks.length > 0 && (
              <Button onClick={() => setQuery({ start: null })}>Show all webhooks</Button>
            )
          ) : (
            <>
              <Button kind="quiet" onClick={() => setQuery({ start: '1' }, { push: true })}>
                Quick start
              </Button>
              <Button kind="primary" onClick={() => setDialog('create')}>
                New webhook
              </Button>
            </>
          ))
        }
      >
        {isStarting
          ? 'From nothing to notifications on your own server, in five steps.'
          : 'Where notifications about your shipments go, and how well they arrive.'}
      </PageHead>
      {!data && <Loading />}
      {data && isStarting && <QuickStart webhooks={data.webhooks} onCreated={reload} />}
      {data && !isStarting && (
        <>
          {ill.length > 0 && !show && (
            <p class="banner notice">
              <strong>
                <Link
                  href={
                    ill.length === 1
                      ? `/webhooks/${ill[0]!.webhookId}`
                      : withQuery('/webhooks', { status: 'PROBLEM' })
                  }
                >
                  {ill.length} of {countText(webhooks.length, 'webhook', 'webhooks')}
                </Link>{' '}
                {ill.length === 1 ? 'needs' : 'need'} you.
              </strong>{' '}
              {ill.length === 1 ? 'Open it' : 'They come first: open one'} to see its last error, and what to
              do.
            </p>
          )}
          {(show || data.webhooks.length >= manyWebhooks) && <Statuses shown={show} />}
          {webhooks.length === 0 && !isLoading && <p class="soft">None of your webhooks is in this list.</p>}
          <div class="table-wrap" aria-busy={isLoading} hidden={webhooks.length === 0}>
            <table class="webhooks">
              <TableHead
                columns={['Webhook', 'Status', 'Success, 24 h', 'Attempts, 24 h', 'Waiting', 'Last success']}
                numbers={['Waiting']}
                hasActions
              />
              <tbody>
                {webhooks.map((webhook) => (
                  <Row
                    key={webhook.webhookId}
                    webhook={webhook}
                    onTest={() => setDialog({ test: webhook })}
                  />
                ))}
              </tbody>
            </table>
          </div>
          {data.nextCursor && !show && (
            <p class="more">
              <Button isBusy={isLoading} onClick={() => setPages(pages + 1)}>
                Show more
              </Button>
            </p>
          )}
        </>
      )}
      {dialog === 'create' && (
        <WebhookForm
          onClose={close}
          onSaved={async (webhook) => {
            if ('secret' in webhook) setDialog({ secret: webhook.secret, webhookId: webhook.webhookId });
            await reload();
          }}
        />
      )}
      {dialog && typeof dialog === 'object' && 'secret' in dialog && (
        <SecretDialog
          title="Webhook created"
          secret={dialog.secret}
          onClose={() => navigate(`/webhooks/${dialog.webhookId}`)}
        />
      )}
      {dialog && typeof dialog === 'object' && 'test' in dialog && (
        <TestDialog webhook={dialog.test} onClose={close} />
      )}
    </>
  );
}

const Statuses = ({ shown }: { shown: string }) => (
  <Choices
    label="Show"
    shortcut="/"
    names={['All', ...shownStatuses.map(wordOf)]}
    chosen={shown ? wordOf(shown) : 'All'}
    onChoose={(name) => setQuery({ status: shownStatuses.find((status) => wordOf(status) === name) })}
  />
);

const hoursOf = ({ stats }: ListedWebhook) => stats?.hours ?? [];

function Row({ webhook, onTest }: { webhook: ListedWebhook; onTest: () => void }) {
  const { health } = webhook;
  const hours = hoursOf(webhook);
  const { share, attempts } = totalOf(hours);
  const name = nameOf(webhook);
  const problem = trouble(webhook, health, now.value);
  const unknown = unknownInWords(webhook);
  return (
    <tr>
      <th scope="row" class="webhook-name">
        <Link href={`/webhooks/${webhook.webhookId}`} title={name}>
          {shortNameOf(webhook)}
        </Link>
        <small class="soft">
          {ownNameOf(webhook) && <span class="cut">{webhook.targetAddress}</span>}
          <span>{interestsInWords(webhook.interests, notices)}</span>
        </small>
      </th>
      <td class="webhook-status">
        <StatusBadge status={statusOf(webhook, health)} />
        {unknown && (
          <>
            {' '}
            <span class="badge warn">{unknown}</span>
          </>
        )}
        {problem && <small class="soft">{problem}</small>}
      </td>
      <td class="webhook-share" data-label="Success">
        {share === null ? (
          <span class="soft">–</span>
        ) : (
          <span class={shareTone(share)}>{percent(share)}</span>
        )}
      </td>
      <td class="webhook-spark">
        {attempts > 0 ? (
          <Link
            href={withQuery('/deliveries', { webhookId: webhook.webhookId, ...attemptedIn(hours) })}
            title="Leads to the deliveries attempted then"
          >
            <Sparkline hours={hours} label={attemptsInWords(hours)} />
          </Link>
        ) : (
          <span class="soft">{isOfLastDay(health?.lastSuccessAt) ? 'none but tests' : 'none'}</span>
        )}
      </td>
      <td class="number" data-label="Waiting">
        {health?.pendingCount ? (
          <Link href={withQuery('/deliveries', { webhookId: webhook.webhookId, status: 'UNFINISHED' })}>
            {waiting(health.pendingCount)}
          </Link>
        ) : (
          (health?.pendingCount ?? '–')
        )}
      </td>
      <td class="webhook-last" data-label="Last success">
        <Time at={health?.lastSuccessAt ?? null} />
      </td>
      <td class="webhook-actions">
        <Button class="small" onClick={onTest} aria-label={`Send test to ${name}`}>
          Send test
        </Button>
      </td>
    </tr>
  );
}

/** Tests count as a success, but not among the attempts. */
const isOfLastDay = (at: string | null | undefined) => at != null && now.value - Date.parse(at) < 86_400_000;

const shareTone = (share: number) => (share >= 0.99 ? '' : share >= 0.9 ? 'tone-warn' : 'tone-bad');

const maxPages = 20;

/** The first pages together, as far as they are shown. */
async function readWebhooks(maxPages: number, limit: number, signal: AbortSignal): Promise<Page> {
  const pages = await readPages<Page>(
    (cursor) => withQuery('/v1/webhooks', { include: 'health,stats', limit, cursor }),
    maxPages,
    signal,
  );
  return { webhooks: pages.flatMap((page) => page.webhooks), nextCursor: pages.at(-1)!.nextCursor };
}
