import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ListedWebhook } from '../../../client/api/types.js';
import { withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { countText } from '../../units.js';
import { countReplay, maxCounted, type Count, type Range } from './count.js';

interface Props {
  webhook: ListedWebhook;
  from: string;
  to: string | undefined;
  status?: 'FAILED';
  /** Replays under way: as one ends, there is less to send. */
  running: number;
  title: string;
  /** Said where there is nothing to send. */
  nothing: string;
  children: ComponentChildren;
  onSend: (range: Range) => Promise<void>;
}

/** One way to recover, with how much it sends. The count and the replay are of the same span. */
export function Offer({ webhook, from, to, status, running, title, nothing, children, onSend }: Props) {
  const id = useId();
  const offer = useResource(
    async (signal) => {
      const range: Range = { from, to: to ?? new Date().toISOString(), ...(status && { status }) };
      return { range, count: await countReplay(webhook, range, signal) };
    },
    { key: `${from} ${to} ${running}` },
  );
  const { data, error, isLoading } = offer;
  const { webhookId } = webhook;
  return (
    <section class="panel offer" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="soft">{children}</p>
      <p class="offer-count" role="status" aria-busy={isLoading}>
        {error ? (
          error.message
        ) : !data ? (
          'Counting…'
        ) : data.count === 0 ? (
          nothing
        ) : (
          <strong>{willSend(data.count)}</strong>
        )}
      </p>
      <div class="actions">
        <Button
          kind="primary"
          disabled={!data || data.count === 0 || Boolean(error)}
          onClick={async () => {
            await onSend(data!.range);
            await offer.reload();
          }}
        >
          {status ? 'Send again' : 'Send all'}
        </Button>
        {status && data && data.count !== 0 && (
          <Link class="button quiet" href={withQuery('/deliveries', { webhookId, status, from, to })}>
            See them
          </Link>
        )}
      </div>
    </section>
  );
}

export const willSend = (count: Count) =>
  `${count === null ? `More than ${maxCounted.toLocaleString('en')} notifications` : countText(count, 'notification', 'notifications')} to send`;
