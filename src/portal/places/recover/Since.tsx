import { useId, useState } from 'preact/hooks';
import { exact } from '../../parts/Time.js';
import { query, setQuery } from '../../router.js';

const hourMs = 3_600_000;
const spans = [
  { text: '1 hour', ms: hourMs },
  { text: '24 hours', ms: 24 * hourMs },
  { text: '7 days', ms: 7 * 24 * hourMs },
  { text: '30 days', ms: 30 * 24 * hourMs },
];

/** The last hours or days; a link may have brought another span, which stays until one is chosen. */
export function Since() {
  const id = useId();
  const [chosenMs, setChosenMs] = useState(24 * hourMs);
  const from = query.value.get('from');
  const to = query.value.get('to');
  const [ownFrom, setOwnFrom] = useState<string | null>(null);
  const isGiven = (from !== null && from !== ownFrom) || to !== null;
  const choose = (ms: number) => {
    const moment = new Date(Date.now() - ms).toISOString();
    setChosenMs(ms);
    setOwnFrom(moment);
    setQuery({ from: moment, to: null });
  };
  return (
    <div class="field">
      <label for={id}>Since</label>
      <select
        id={id}
        value={isGiven ? 'given' : String(chosenMs)}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {isGiven && (
          <option value="given">
            {[from && `From ${momentText(from)}`, to && `before ${momentText(to)}`]
              .filter(Boolean)
              .join(', ')}
          </option>
        )}
        {spans.map(({ text, ms }) => (
          <option key={ms} value={ms}>
            {text} ago
          </option>
        ))}
      </select>
    </div>
  );
}

const momentText = (moment: string) => (Number.isNaN(Date.parse(moment)) ? moment : exact(moment));
