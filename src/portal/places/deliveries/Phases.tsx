import type { DeliveryDetails } from '../../../client/api/types.js';
import { durationText } from '../../units.js';

type PhaseTimes = Pick<
  DeliveryDetails['attempts'][number],
  'durationMs' | 'dnsMs' | 'connectMs' | 'tlsMs' | 'firstByteMs'
>;

const width = 400;
const height = 6;

/** Where the time of an attempt went, as a bar and in words. */
export function Phases({ attempt }: { attempt: PhaseTimes }) {
  const parts = [
    { name: 'DNS', ms: attempt.dnsMs },
    { name: 'connect', ms: attempt.connectMs },
    { name: 'TLS', ms: attempt.tlsMs },
    { name: 'first byte', ms: attempt.firstByteMs },
  ].filter((part): part is { name: string; ms: number } => part.ms !== null);
  if (parts.length === 0) return null;
  const known = parts.reduce((sum, { ms }) => sum + ms, 0);
  const wholeMs = Math.max(attempt.durationMs ?? 0, known, 1);
  let at = 0;
  return (
    <div class="phases">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width={width} height={height} />
        {parts.map(({ name, ms }) => {
          const x = at;
          at += (ms / wholeMs) * width;
          return <rect key={name} class={`phase-${name.slice(0, 3)}`} x={x} width={at - x} height={height} />;
        })}
      </svg>
      <ul>
        {parts.map(({ name, ms }) => (
          <li key={name} class={`phase-${name.slice(0, 3)}`}>
            {name} {durationText(ms)}
          </li>
        ))}
      </ul>
    </div>
  );
}
