import { useState } from 'preact/hooks';
import { Button } from '../../parts/Button.js';
import { Dialog } from '../../parts/Dialog.js';
import { MomentField, momentOfInput } from '../../parts/MomentField.js';
import { setQuery } from '../../router.js';
import type { Filters } from './filters.js';

const hourMs = 3_600_000;
const spans = [
  { text: 'Last hour', ms: hourMs },
  { text: 'Last 24 hours', ms: 24 * hourMs },
  { text: 'Last 7 days', ms: 7 * 24 * hourMs },
];

/** A choice becomes a moment in the address: who opens a shared view sees the same. */
export function TimeRange({ filters: { from, to } }: { filters: Filters }) {
  const [isOpen, setIsOpen] = useState(false);
  const isSet = Boolean(from ?? to);
  const choose = (value: string) => {
    if (value === 'between') setIsOpen(true);
    else if (value === '') setQuery({ from: null, to: null });
    else setQuery({ from: new Date(Date.now() - Number(value)).toISOString(), to: null });
  };
  return (
    <>
      <select
        class={isSet ? 'is-set' : ''}
        aria-label="Time"
        value={isSet ? 'set' : ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          event.currentTarget.value = isSet ? 'set' : '';
          if (value !== 'set') choose(value);
        }}
      >
        <option value="">Any time</option>
        {isSet && <option value="set">Chosen range</option>}
        {spans.map(({ text, ms }) => (
          <option key={ms} value={ms}>
            {text}
          </option>
        ))}
        <option value="between">Between…</option>
      </select>
      {isOpen && <Between from={from} to={to} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function Between({
  from,
  to,
  onClose,
}: {
  from: string | undefined;
  to: string | undefined;
  onClose: () => void;
}) {
  const [chosenFrom, setFrom] = useState(from ?? '');
  const [chosenTo, setTo] = useState(to ?? '');
  return (
    <Dialog title="Between" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ from: momentOfInput(chosenFrom), to: momentOfInput(chosenTo) });
          onClose();
        }}
      >
        <MomentField label="From" value={chosenFrom} onInput={setFrom} />
        <MomentField label="Before" value={chosenTo} onInput={setTo} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Show
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
