import { signal } from '@preact/signals';
import { relative } from '../units.js';

/** The clock of everything relative on the page: one timer, every second, not while the page is hidden. */
export const now = signal(Date.now());

const tick = () => {
  if (document.visibilityState === 'visible') now.value = Date.now();
};
setInterval(tick, 1_000);
document.addEventListener('visibilitychange', tick);

const exactFormat = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** A text that is no moment stays as it is: one from the address may be anything. */
export const exact = (at: string) => (Number.isNaN(Date.parse(at)) ? at : exactFormat.format(new Date(at)));

/** A moment in relation to now; the exact one on hover. `at` is ISO 8601; null is a dash. */
export function Time({ at, isExact = false }: { at: string | null; isExact?: boolean }) {
  if (at === null) return <span class="soft">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {isExact ? exact(at) : <Relative at={at} />}
    </time>
  );
}

/** A component of its own, so that a tick draws only the text again. */
const Relative = ({ at }: { at: string }) => <>{relative(Date.parse(at), now.value)}</>;
