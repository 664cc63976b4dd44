import { useState } from 'preact/hooks';
import type { WebhookStats } from '../../../client/api/types.js';
import { withQuery } from '../../api.js';
import { Time } from '../../parts/Time.js';
import { Link } from '../../router.js';
import { countText, hourMs } from '../../units.js';
import { attemptedIn, paceInWords } from './summary.js';

type Hour = WebhookStats['hours'][number];

const height = 60;
const step = 10;
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** "14:00 to 15:00: 42 attempts, 2 failed". */
function inWords({ hour, attempts, failed }: Hour): string {
  const from = Date.parse(hour);
  const span = `${clock.format(from)} to ${clock.format(from + hourMs)}`;
  return `${span}: ${countText(attempts, 'attempt', 'attempts')}, ${failed} failed`;
}

const leadsTo = (hour: Hour) => `${inWords(hour)}. Leads to the deliveries attempted then.`;

/** Attempts by hour. A bar that is pointed at tells its figures, instead of how long attempts took in all hours. */
export function Bars({ webhookId, hours }: { webhookId: string; hours: Hour[] }) {
  const [pointedAt, setPointedAt] = useState<Hour | null>(null);
  const max = Math.max(1, ...hours.map(({ attempts }) => attempts));
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / max) * height));
  const [first] = hours;
  return (
    <div class="chart" onMouseLeave={() => setPointedAt(null)}>
      <svg
        class="sparkline bars"
        viewBox={`0 0 ${hours.length * step} ${height}`}
        preserveAspectRatio="none"
        role="group"
        aria-label="Attempts by hour"
      >
        {hours.map((hour, index) => {
          const [whole, bad] = [scale(hour.attempts), Math.min(scale(hour.failed), scale(hour.attempts))];
          const x = index * step;
          const point = () => setPointedAt(hour);
          const bars = (
            <>
              <rect class="ground" x={x} width={step} height={height} />
              <rect class="base" x={x} y={height - 1} width={step - 2} height={1} />
              <rect class="ok" x={x} y={height - whole} width={step - 2} height={whole - bad} />
              <rect class="failed" x={x} y={height - bad} width={step - 2} height={bad} />
            </>
          );
          if (hour.attempts === 0)
            return (
              <g key={hour.hour} onMouseEnter={point}>
                {bars}
              </g>
            );
          return (
            <Link
              key={hour.hour}
              href={withQuery('/deliveries', { webhookId, ...attemptedIn([hour]) })}
              aria-label={leadsTo(hour)}
              onMouseEnter={point}
              onFocus={point}
              onBlur={() => setPointedAt(null)}
            >
              {bars}
            </Link>
          );
        })}
      </svg>
      <p class="soft">
        <span>{first && <Time at={first.hour} />}</span>
        <span>now</span>
      </p>
      <p class="soft pointed-at">{pointedAt ? leadsTo(pointedAt) : paceInWords(hours)}</p>
    </div>
  );
}
