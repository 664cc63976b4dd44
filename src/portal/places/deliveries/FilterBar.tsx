import { useState } from 'preact/hooks';
import { Button } from '../../parts/Button.js';
import { wordOf } from '../../words.js';
import { exact } from '../../parts/Time.js';
import { setQuery } from '../../router.js';
import { findShipments } from '../shipments/find.js';
import { useWebhookList } from '../webhook-list.js';
import { shortNameOf } from '../webhooks/summary.js';
import { notices, useStates } from '../webhooks/catalogue.js';
import { Dialog } from '../../parts/Dialog.js';
import { MomentField, momentOfInput } from '../../parts/MomentField.js';
import type { DeliveryQuery } from '../../../client/api/types.js';

const filterNames = [
  'status',
  'state',
  'webhookId',
  'trackingId',
  'shipperTrackingId',
  'from',
  'to',
] as const satisfies (keyof DeliveryQuery)[];
type FilterName = (typeof filterNames)[number];
type Filters = Partial<Record<FilterName, string>>;

export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.map((name) => [name, query.get(name) ?? '']).filter(([, value]) => value);
  return Object.fromEntries(given) as Filters;
}

export const noFilters = Object.fromEntries(filterNames.map((name) => [name, null]));

const statuses = ['PENDING', 'SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'];

/** The filters of the log. All of them are in the address, so that a view can be shared. */
export function FilterBar({ filters }: { filters: Filters }) {
  const webhooks = useWebhookList();
  const states = useStates();
  const named = (names: string[]) => names.map((name) => ({ value: name, text: wordOf(name) }));
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <Choice name="status" label="Status" all="Any status" options={named(statuses)} filters={filters} />
        <Choice
          name="state"
          label="State"
          all="Any state"
          options={named([...states, ...notices])}
          filters={filters}
        />
        <Choice
          name="webhookId"
          label="Webhook"
          all="Any webhook"
          options={webhooks.map((webhook) => ({ value: webhook.webhookId, text: shortNameOf(webhook) }))}
          filters={filters}
        />
        <TimeRange filters={filters} />
        <NumberSearch />
      </div>
      <Chips filters={filters} />
    </>
  );
}

interface ChoiceProps {
  name: FilterName;
  label: string;
  all: string;
  options: { value: string; text: string }[];
  filters: Filters;
}

function Choice({ name, label, all, options, filters }: ChoiceProps) {
  const value = filters[name] ?? '';
  const isListed = options.some((option) => option.value === value);
  return (
    <select
      class={value ? 'is-set' : ''}
      aria-label={label}
      value={value}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      <option value="">{all}</option>
      {value && !isListed && <option value={value}>{value}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  );
}

function NumberSearch() {
  const [text, setText] = useState('');
  const search = async () => {
    const wanted = text.trim();
    if (!wanted) return;
    const found = await findShipments(wanted);
    const isTrackingId = found.trackingId !== null;
    setText('');
    setQuery({
      trackingId: isTrackingId ? found.trackingId : null,
      shipperTrackingId: isTrackingId ? null : wanted,
    });
  };
  return (
    <form
      class="number-search"
      onSubmit={(event) => {
        event.preventDefault();
        event.currentTarget.querySelector('button')?.click();
      }}
    >
      <input
        type="search"
        aria-label="Number of the shipment"
        placeholder="Number"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
      <Button onClick={search}>Find</Button>
    </form>
  );
}

/** The filters that no field shows, each with a button that takes it away. */
function Chips({ filters }: { filters: Filters }) {
  const { trackingId, shipperTrackingId, from, to } = filters;
  const chips: [name: FilterName, text: string | undefined][] = [
    ['shipperTrackingId', shipperTrackingId && `Number ${shipperTrackingId}`],
    ['trackingId', trackingId && `Tracking id ${trackingId}`],
    ['from', from && `From ${momentText(from)}`],
    ['to', to && `Before ${momentText(to)}`],
  ];
  const shown = chips.filter(([, text]) => text);
  if (Object.keys(filters).length === 0) return null;
  return (
    <p class="chips">
      {shown.map(([name, text]) => (
        <span class="chip long" key={name}>
          {text}
          <button
            type="button"
            class="close"
            aria-label={`Remove: ${text}`}
            onClick={() => setQuery({ [name]: null })}
          >
            ×
          </button>
        </span>
      ))}
      <button type="button" class="link" onClick={() => setQuery(noFilters)}>
        Clear all
      </button>
    </p>
  );
}

/** A filter comes from the address, where anything may stand. */
function momentText(moment: string): string {
  const ms = Date.parse(moment);
  return Number.isNaN(ms) ? moment : exact(new Date(ms).toISOString());
}

const hourMs = 3_600_000;
const spans = [
  { text: 'Last hour', ms: hourMs },
  { text: 'Last 24 hours', ms: 24 * hourMs },
  { text: 'Last 7 days', ms: 7 * 24 * hourMs },
];

/** A choice becomes a moment in the address, so that everyone who opens a shared view sees the same. */
function TimeRange({ filters: { from, to } }: { filters: Filters }) {
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
