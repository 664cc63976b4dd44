import { useState } from 'preact/hooks';
import { Button } from '../../parts/Button.js';
import { Chip, FilterChoice, NumberSearch } from '../../list/Filters.js';
import { Form, MomentField, Select, SubmitButton } from '../../parts/Form.js';
import { errorsInShort } from '../../in-short.js';
import { named } from '../../words.js';
import { hourMs } from '../../units.js';
import { exact } from '../../parts/Time.js';
import { navigate, setQuery } from '../../router.js';
import { withQuery } from '../../api.js';
import { findShipments, openInLog } from '../shipments/find.js';
import { useWebhookList } from '../webhook-list.js';
import { shortNameOf } from '../webhooks/summary.js';
import { notices, useStates } from '../webhooks/catalogue.js';
import { Dialog } from '../../parts/Dialog.js';
import type { DeliveryQuery } from '../../../client/api/types.js';

const filterNames = [
  'status',
  'state',
  'webhookId',
  'trackingId',
  'shipperTrackingId',
  'eventId',
  'statusCode',
  'errorCode',
  'from',
  'to',
  'attemptedFrom',
  'attemptedTo',
  'attemptFailed',
] as const satisfies (keyof DeliveryQuery)[];
type FilterName = (typeof filterNames)[number];
type Filters = Partial<Record<FilterName, string>>;

export function filtersOf(query: URLSearchParams): Filters {
  const given = filterNames.map((name) => [name, query.get(name) ?? '']).filter(([, value]) => value);
  return Object.fromEntries(given) as Filters;
}

export const noFilters = Object.fromEntries(filterNames.map((name) => [name, null]));

const statuses = [
  ...named(['UNFINISHED']),
  ['PENDING', 'Pending, retrying'],
  ...named(['SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED']),
] as const;

interface Props {
  filters: Filters;
  /** The HTTP statuses of the rows. */
  responded: number[];
}

/** The filters of the log. All of them are in the address, so that a view can be shared. */
export function FilterBar({ filters, responded }: Props) {
  const webhooks = useWebhookList().map((webhook) => [webhook.webhookId, shortNameOf(webhook)] as const);
  const states = named([...useStates(), ...notices]);
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <FilterChoice name="status" label="Status" all="Any status" options={statuses} />
        <FilterChoice name="state" label="State" all="Any state" options={states} />
        <FilterChoice name="webhookId" label="Webhook" all="Any webhook" options={webhooks} />
        <OutcomeChoice filters={filters} responded={responded} />
        <TimeRange filters={filters} />
        <NumberSearch label="Number of the shipment" placeholder="Number" onSearch={search} />
      </div>
      <Chips filters={filters} />
    </>
  );
}

/** If the numbers of several shipments begin so, one of them must be chosen first. */
async function search(number: string): Promise<boolean> {
  const { count, trackingId, by } = await findShipments(number);
  if (count === 0) return openInLog(number);
  if (count > 1 && by === 'shipperTrackingIdPrefix') navigate(withQuery('/shipments', { [by]: number }));
  else setQuery({ trackingId, shipperTrackingId: trackingId === null ? number : null });
  return true;
}

/** The filters that no field shows, each with a button that takes it away. */
function Chips({ filters }: { filters: Filters }) {
  const { trackingId, shipperTrackingId, eventId, statusCode, errorCode, from, to } = filters;
  const { attemptedFrom, attemptedTo, attemptFailed } = filters;
  if (Object.keys(filters).length === 0) return null;
  return (
    <p class="chips">
      {shipperTrackingId && <Chip name="shipperTrackingId" text={`Number ${shipperTrackingId}`} />}
      {trackingId && <Chip name="trackingId" text={`Tracking id ${trackingId}`} />}
      {eventId && <Chip name="eventId" text={`webhook-id ${eventId}`} />}
      {statusCode && errorCode && <Chip name="errorCode" text={`Error ${errorCode}`} />}
      {from && <Chip name="from" text={`From ${exact(from)}`} />}
      {to && <Chip name="to" text={`Before ${exact(to)}`} />}
      {attemptedFrom && <Chip name="attemptedFrom" text={`Attempted from ${exact(attemptedFrom)}`} />}
      {attemptedTo && <Chip name="attemptedTo" text={`Attempted before ${exact(attemptedTo)}`} />}
      {attemptFailed && (
        <Chip
          name="attemptFailed"
          text={attemptFailed === 'true' ? 'With a failed attempt' : 'With a successful attempt'}
        />
      )}
      <button type="button" class="link" onClick={() => setQuery(noFilters)}>
        Clear all
      </button>
    </p>
  );
}

const usualStatuses = [200, 400, 401, 403, 404, 408, 410, 429, 500, 502, 503, 504];
const errors = [...Object.entries(errorsInShort), ['HTTP_STATUS', 'Any status but 2xx']] as const;

/** The outcome of the last attempt: a status or an error. The address may have both. */
function OutcomeChoice({ filters, responded }: Props) {
  const { statusCode = '', errorCode = '' } = filters;
  const chosen = statusCode || errorCode;
  const statuses = [...new Set([...usualStatuses, ...responded].map(String))].sort();
  const isListed = chosen === '' || [...statuses, ...errors.map(([code]) => code)].includes(chosen);
  const choose = (code: string) => {
    const isStatus = /^\d/.test(code);
    setQuery({ statusCode: isStatus ? code : null, errorCode: isStatus ? null : code });
  };
  return (
    <Select
      class={chosen ? 'is-set' : ''}
      aria-label="Response"
      value={chosen}
      options={[]}
      onChoose={choose}
    >
      <option value="">Any response</option>
      {!isListed && <option value={chosen}>{chosen}</option>}
      <optgroup label="Status">
        {statuses.map((code) => (
          <option key={code} value={code}>
            {code}
          </option>
        ))}
      </optgroup>
      <optgroup label="Error">
        {errors.map(([code, text]) => (
          <option key={code} value={code}>
            {text}
          </option>
        ))}
      </optgroup>
    </Select>
  );
}

const spans = [
  [String(hourMs), 'Last hour'],
  [String(24 * hourMs), 'Last 24 hours'],
  [String(7 * 24 * hourMs), 'Last 7 days'],
  ['between', 'Between…'],
] as const;

/** A choice becomes a moment in the address, so that everyone who opens a shared view sees the same. */
function TimeRange({ filters }: { filters: Filters }) {
  const [isOpen, setIsOpen] = useState(false);
  const isSet = Boolean(filters.from ?? filters.to);
  const choose = (value: string) => {
    if (value === 'between') setIsOpen(true);
    else if (value === '') setQuery({ from: null, to: null });
    else setQuery({ from: new Date(Date.now() - Number(value)).toISOString(), to: null });
  };
  return (
    <>
      <Select
        class={isSet ? 'is-set' : ''}
        aria-label="Time"
        value={isSet ? 'set' : ''}
        options={spans}
        onChoose={choose}
      >
        <option value="">Any time</option>
        {isSet && <option value="set">Chosen range</option>}
      </Select>
      {isOpen && <Between filters={filters} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function Between({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const [from, setFrom] = useState(filters.from ?? '');
  const [to, setTo] = useState(filters.to ?? '');
  const show = () => {
    setQuery({ from, to });
    onClose();
  };
  return (
    <Dialog title="Between" onClose={onClose}>
      <Form onSubmit={show}>
        <MomentField label="From" name="from" value={from} onInput={setFrom} />
        <MomentField label="Before" name="to" value={to} onInput={setTo} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton>Show</SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}
