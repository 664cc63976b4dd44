import { useState } from 'preact/hooks';
import type {
  ListedShipment,
  OrderResult,
  ShipmentPage as Page,
  Tracking,
} from '../../../client/api/types.js';
import { sampleOrder } from '../../../roles/greeting.js';
import { call, withQuery } from '../../api.js';
import { useLiveList } from '../../list/live.js';
import { Button } from '../../parts/Button.js';
import { LiveBar } from '../../list/LiveBar.js';
import { Empty, LoadError, Loading, PageHead } from '../../parts/Page.js';
import { StatusBadge } from '../../parts/StatusBadge.js';
import { wordOf } from '../../words.js';
import { Time } from '../../parts/Time.js';
import { Link, navigate, query, setQuery } from '../../router.js';
import { countText } from '../../units.js';
import { session } from '../../session.js';
import { useStates } from '../webhooks/catalogue.js';
import { findShipments } from './find.js';
import { ShipmentPage } from './ShipmentPage.js';

const pageSize = 50;

export function Shipments({ id }: { id?: string }) {
  return id ? <ShipmentPage key={id} trackingId={id} /> : <ShipmentList />;
}

function ShipmentList() {
  const [isLive, setIsLive] = useState(true);
  const shipperTrackingId = query.value.get('shipperTrackingId') ?? '';
  const state = query.value.get('state') ?? '';
  const states = useStates();
  const list = useLiveList<ListedShipment>(
    {
      key: `${state} ${shipperTrackingId}`,
      read: async (cursor, signal) => {
        const address = withQuery('/v1/shipments', { shipperTrackingId, state, limit: pageSize, cursor });
        const page = await call<Page>('GET', address, undefined, { signal });
        return { rows: page.shipments, nextCursor: page.nextCursor };
      },
      readOne: async (row, signal) => {
        const address = `/v1/shipment-tracking/${row.trackingId}`;
        const tracking = await call<Tracking>('GET', address, undefined, { signal });
        return { ...row, state: tracking.state };
      },
      idOf: ({ shipmentId }) => shipmentId,
      isChanging: (row) => !state || row.state === state,
      newText: (count) => countText(count, 'new shipment', 'new shipments'),
    },
    isLive,
  );
  const isFiltered = Boolean(state || shipperTrackingId);
  const rows = list.shown?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <>
      <PageHead title="Shipments" actions={<SampleOrder />}>
        Find one by its number, and see where it is and which webhooks were notified.
      </PageHead>
      <div class="filters">
        <Search />
        <select
          aria-label="State"
          class={state ? 'is-set' : ''}
          value={state}
          onChange={(event) => setQuery({ state: event.currentTarget.value })}
        >
          <option value="">Any state</option>
          {state && !states.includes(state) && <option value={state}>{state}</option>}
          {states.map((name) => (
            <option key={name} value={name}>
              {wordOf(name)}
            </option>
          ))}
        </select>
      </div>
      {shipperTrackingId && (
        <p class="chips">
          <span class="chip long">
            Number {shipperTrackingId}
            <button
              type="button"
              class="close"
              aria-label={`Remove: Number ${shipperTrackingId}`}
              onClick={() => setQuery({ shipperTrackingId: null })}
            >
              ×
            </button>
          </span>
        </p>
      )}
      <LiveBar list={list} isLive={isLive} onLive={setIsLive} />
      {list.error && <LoadError error={list.error} />}
      {!list.error && !list.shown && <Loading rows={10} />}
      {!list.error && list.shown && (
        <div ref={list.list} aria-busy={list.isLoading}>
          {rows.length === 0 ? (
            <NoShipments isFiltered={isFiltered} hasOlder={list.hasOlder} />
          ) : (
            <ShipmentTable rows={rows} />
          )}
          {list.hasOlder && (
            <p class="more">
              <Button onClick={list.loadOlder}>
                {rows.length === 0 ? 'Look further back' : 'Load older'}
              </Button>
            </p>
          )}
        </div>
      )}
    </>
  );
}

const ShipmentTable = ({ rows }: { rows: ListedShipment[] }) => (
  <div class="table-wrap">
    <table class="shipments">
      <thead>
        <tr>
          <th scope="col">Your number</th>
          <th scope="col">State</th>
          <th scope="col">Tracking id</th>
          <th scope="col" class="number">
            Last change
          </th>
          <th scope="col" class="number">
            Accepted
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ shipmentId, trackingId, shipperTrackingId, state, updatedAt, acceptedAt }) => (
          <tr
            key={shipmentId}
            data-row={shipmentId}
            onClick={(event) => {
              const isOnLink = (event.target as Element).closest('a, button');
              if (!isOnLink && !getSelection()?.toString()) navigate(`/shipments/${trackingId}`);
            }}
          >
            <th scope="row" class="cut">
              <Link href={`/shipments/${trackingId}`}>{shipperTrackingId}</Link>
            </th>
            <td class="shipment-state">
              {state ? <StatusBadge status={state} /> : <span class="soft">Not created yet</span>}
            </td>
            <td class="shipment-id">
              <code>{trackingId}</code>
            </td>
            <td class="number">
              <Time at={updatedAt} />
            </td>
            <td class="number soft shipment-accepted">
              <Time at={acceptedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The filter by state looks at some thousands of shipments at a time: an empty page need not be the end. */
const NoShipments = ({ isFiltered, hasOlder }: { isFiltered: boolean; hasOlder: boolean }) =>
  isFiltered ? (
    <Empty title={hasOlder ? 'None among the newest' : 'No shipment matches'}>
      <p>
        <button type="button" class="link" onClick={() => setQuery({ state: null, shipperTrackingId: null })}>
          Show all shipments
        </button>
      </p>
    </Empty>
  ) : (
    <Empty title="No shipments yet">
      <p>An order becomes a shipment as soon as it is accepted.</p>
      <p>
        <Link href="/webhooks?start=1">Quick start</Link>
      </p>
    </Empty>
  );

function Search() {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const search = async () => {
    const number = text.trim();
    if (!number) return;
    setProblem('');
    const { count, trackingId } = await findShipments(number);
    if (count === 1) navigate(`/shipments/${trackingId}`);
    else if (count > 1) setQuery({ shipperTrackingId: number, state: null }, { push: true });
    else setProblem(`No shipment has the number ${number}.`);
  };
  return (
    <form
      class="number-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        event.currentTarget.querySelector('button')?.click();
      }}
    >
      <input
        type="search"
        aria-label="Your number or the tracking id"
        aria-describedby="search-problem"
        placeholder="Your number or the tracking id"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
      <Button kind="primary" onClick={search}>
        Find
      </Button>
      <p role="status" id="search-problem" class="field-error long">
        {problem}
      </p>
    </form>
  );
}

/** Shown where the service simulates shipments. */
function SampleOrder() {
  if (!session.value?.features.simulate) return null;
  const place = async () => {
    const order = await call<OrderResult>('POST', '/v1/shipments', sampleOrder(Date.now()));
    navigate(`/shipments/${order.trackingId}`);
  };
  return <Button onClick={place}>Place a sample order</Button>;
}
