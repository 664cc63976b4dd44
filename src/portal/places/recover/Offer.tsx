import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { countText } from '../../units.js';
import { countReplay, type Count, type Range } from './count.js';

interface Props {
  webhookId: string;
  from: string;
  to: string | undefined;
  status: 'FAILED' | 'PENDING' | 'NEVER_ATTEMPTED';
  counting: string;
  title: string;
  act: string;
  nothing: string;
  children: ComponentChildren;
  onSend: (range: Range) => Promise<void>;
}

/** One way to recover, with how much it sends. The count and the replay are of the same span. */
export function Offer({
  webhookId,
  from,
  to,
  status,
  counting,
  title,
  act,
  nothing,
  children,
  onSend,
}: Props) {
  const id = useId();
  const offer = useResource(
    async (signal) => {
      const range: Range = { from, to: to ?? new Date().toISOString(), status };
      return { range, count: await countReplay(webhookId, range, signal) };
    },
    { key: `${from} ${to} ${counting}` },
  );
  const { data, error, isLoading } = offer;
  const attemptFailed = status === 'PENDING' ? 'true' : undefined; // a first attempt is no retry
  return (
    <section class="panel offer" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="soft">{children}</p>
      <p class="offer-count" role="status" aria-busy={isLoading}>
        {error ? (
          error.message
        ) : !data ? (
          'Counting…'
        ) : isNothing(data.count) ? (
          nothing
        ) : (
          <strong>{willSend(data.count)}</strong>
        )}
      </p>
      <div class="actions">
        <Button
          kind="primary"
          disabled={!data || isNothing(data.count) || Boolean(error)}
          onClick={async () => {
            await onSend(data!.range);
            await offer.reload();
          }}
        >
          {act}
        </Button>
        {status !== 'NEVER_ATTEMPTED' && data && !isNothing(data.count) && (
          <Link
            class="button quiet"
            href={withQuery('/deliveries', { webhookId, status, from, to, attemptFailed })}
          >
            See them
          </Link>
        )}
      </div>
    </section>
  );
}

export const isNothing = ({ found, isAll }: Count) => isAll && found === 0;

export function willSend({ found, isAll }: Count): string {
  const toSend = `${countText(found, 'notification', 'notifications')} to send`;
  if (isAll) return toSend;
  if (found > 0) return `At least ${toSend}`;
  return 'Too much was recorded in this time to count it here. The replay says how much it sends.';
}
