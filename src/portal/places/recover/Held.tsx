import type { WebhookWithHealth } from '../../../client/api/types.js';
import { withQuery } from '../../api.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { countText } from '../../units.js';
import { countReplay } from './count.js';

interface Props {
  webhook: WebhookWithHealth;
  from: string;
  to: string | undefined;
  /** Counted again when it changes. */
  counting: string;
}

/** How many deliveries of the span are held, and until when: to send them again would send none sooner. */
export function Held({ webhook, from, to, counting }: Props) {
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
