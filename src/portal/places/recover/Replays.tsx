import type { ReplayProgress } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Loading } from '../../parts/Page.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { wordOf } from '../../words.js';
import { exact, Time } from '../../parts/Time.js';
import { replaySentence } from '../../sentences.js';

interface Props {
  replays: ReplayProgress[] | undefined;
  onChange: () => Promise<void>;
}

/** The last replays of a webhook, and how far each has come. */
export function Replays({ replays, onChange }: Props) {
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
  const { replayId, status, done, total, createdAt } = replay;
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
