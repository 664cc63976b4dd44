import type {
  ListedShipment,
  OrderResult,
  ShipmentPage as Page,
  Tracking,
} from '../../../client/api/types.js';
import { sampleOrder } from '../../../roles/greeting.js';
import { call, read, withQuery } from '../../api.js';
import { useLiveList } from '../../list/live.js';
import { Button } from '../../parts/Button.js';
import { Chip, FilterChoice, noSuchNumber, NumberSearch } from '../../list/Filters.js';
import { LiveRows } from '../../list/LiveRows.js';
import { rowsOf } from '../../list/window.js';
import { Empty, PageHead, TableHead, StatusBadge } from '../../parts/Page.js';
import { named } from '../../words.js';
import { Time } from '../../parts/Time.js';
import { Link, navigate, opens, query, setQuery } from '../../router.js';
import { countText } from '../../units.js';
import { session } from '../../session.js';
import { useStates } from '../webhooks/catalogue.js';
import { findShipments, openInLog } from './find.js';
import { ShipmentPage } from './ShipmentPage.js';

const pageSize = 50;

export function Shipments({ id }: { id?: string }) {
  return id ? <ShipmentPage key={id} trackingId={id} /> : <ShipmentList />;
}

function ShipmentList() {
  const shipperTrackingId = query.value.get('shipperTrackingId') ?? '';
  const shipperTrackingIdPrefix = query.value.get('shipperTrackingIdPrefix') ?? '';
  const state = query.value.get('state') ?? '';
  const list = useLiveList<ListedShipment>({
    key: JSON.stringify([state, shipperTrackingId, shipperTrackingIdPrefix]),
    read: async (cursor, signal) => {
      const numbers = { shipperTrackingId, shipperTrackingIdPrefix };
      const address = withQuery('/v1/shipments', { ...numbers, state, limit: pageSize, cursor });
      const { shipments, nextCursor } = await read<Page>(address, signal);
      return { rows: shipments, nextCursor };
    },
    readOne: async (row, signal) => {
      const { state } = await read<Tracking>(`/v1/shipment-tracking/${row.trackingId}`, signal);
      return { ...row, state };
    },
    idOf: ({ shipmentId }) => shipmentId,
    isChanging: (row) => !state || row.state === state,
    newText: (count) => countText(count, 'new shipment', 'new shipments'),
  });
  const number = shipperTrackingId || shipperTrackingIdPrefix;
  const isFiltered = Boolean(state || number);
  const rows = list.shown ? rowsOf(list.shown) : [];
  return (
    <>
      <PageHead title="Shipments" actions={<SampleOrder />}>
        Find one by its number, and see where it is and which webhooks were notified.
      </PageHead>
      <div class="filters" role="search" aria-label="Filters">
        <NumberSearch label="Your number or the tracking id" kind="primary" onSearch={open} />
        <FilterChoice name="state" label="State" all="Any state" options={named(useStates())} />
      </div>
      {number && (
        <p class="chips">
          {shipperTrackingId && <Chip name="shipperTrackingId" text={`Number ${shipperTrackingId}`} />}
          {shipperTrackingIdPrefix && (
            <Chip name="shipperTrackingIdPrefix" text={`Number begins with ${shipperTrackingIdPrefix}`} />
          )}
        </p>
      )}
      <LiveRows live={list} older={rows.length === 0 ? 'Look further back' : 'Load older'}>
        {rows.length === 0 ? (
          <NoShipments isFiltered={isFiltered} number={state ? '' : number} hasOlder={list.hasOlder} />
        ) : (
          <ShipmentTable rows={rows} />
        )}
      </LiveRows>
    </>
  );
}

const ShipmentTable = ({ rows }: { rows: ListedShipment[] }) => (
  <div class="table-wrap">
    <table class="shipments">
      <TableHead
        columns={['Your number', 'State', 'Tracking id', 'Last change', 'Accepted']}
        numbers={['Last change', 'Accepted']}
      />
      <tbody>
        {rows.map(({ shipmentId, trackingId, shipperTrackingId, state, updatedAt, acceptedAt }) => (
          <tr key={shipmentId} data-row={shipmentId} onClick={opens(`/shipments/${trackingId}`)}>
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

interface NoneProps {
  isFiltered: boolean;
  /** The number, if the list is filtered by nothing else; otherwise empty. */
  number: string;
  hasOlder: boolean;
}

/** A filter may look at some thousands of shipments at a time: an empty page need not be the end. */
const NoShipments = ({ isFiltered, number, hasOlder }: NoneProps) =>
  isFiltered ? (
    <Empty title={hasOlder ? 'None among the newest' : 'No shipment matches'}>
      {number && !hasOlder && <p>{noSuchNumber(number)}</p>}
      <p>
        <button type="button" class="link" onClick={() => setQuery(noFilters)}>
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

const noFilters = { state: null, shipperTrackingId: null, shipperTrackingIdPrefix: null };

async function open(number: string): Promise<boolean> {
  const { count, trackingId, by } = await findShipments(number);
  if (count === 0) return openInLog(number);
  if (count === 1) navigate(`/shipments/${trackingId}`);
  else setQuery({ ...noFilters, [by]: number }, { push: true });
  return true;
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
