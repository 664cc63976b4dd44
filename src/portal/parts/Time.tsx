import { signal } from '@preact/signals';

/** The clock of everything relative on the page: one timer, every second, not while the page is hidden. */
export const now = signal(Date.now());

const tick = () => {
  if (document.visibilityState === 'visible') now.value = Date.now();
};
setInterval(tick, 1_000);
document.addEventListener('visibilitychange', tick);

const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
];

/** "4 min ago", "in 30 s", "now": within a second and a half. */
export function relative(moment: number, from: number): string {
  const distance = Math.abs(moment - from);
  const unit = units.find(({ ms }) => distance >= ms);
  if (!unit || distance < 1_500) return 'now';
  const text = `${Math.floor(distance / unit.ms)} ${unit.name}`;
  return moment > from ? `in ${text}` : `${text} ago`;
}

/** "212 ms", "1.8 s", "3 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

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

export const exact = (at: string) => exactFormat.format(new Date(at));

/** A moment in relation to now; the exact one on hover. `at` is ISO 8601; null is a dash. */
export function Time({ at, isExact = false }: { at: string | null; isExact?: boolean }) {
  if (at === null) return <span class="soft">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {isExact ? exact(at) : <Relative at={at} />}
    </time>
  );
}

/** Apart, so that a tick draws the text again and not what stands around it. */
const Relative = ({ at }: { at: string }) => <>{relative(Date.parse(at), now.value)}</>;
