import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Delivery, DeliveryDetails, DeliveryPage } from '../../../client/api/types.js';
import { read, withQuery, type ApiError } from '../../api.js';
import { useLiveList } from '../../list/live.js';
import { Button } from '../../parts/Button.js';
import { Empty, PageHead, DeliveryBadge } from '../../parts/Page.js';
import { LiveRows } from '../../list/LiveRows.js';
import { matchPath } from '../../match-path.js';
import { Link, navigate, opens, path, query, setQuery } from '../../router.js';
import { blockerOf, isUnfinished, outcomeInShort, waitInShort, type Calls } from '../../in-short.js';
import { countText } from '../../units.js';
import { lazy } from '../../parts/lazy.js';
import { ChoiceBar, ChoiceCell, useChoice, type Choice } from './Choosing.js';
import { FilterBar, filtersOf, noFilters } from './FilterBar.js';
import { isOnePage } from './one-page.js';
import type { Page } from '../../list/window.js';
import { withoutShipment, wordOf } from '../../words.js';
import { now, Time } from '../../parts/Time.js';
import { useWebhookList, webhookName, callsOf } from '../webhook-list.js';

const onDemand = () => import('../on-demand.js');
const DeliveryPanel = lazy(async () => (await onDemand()).DeliveryPanel);
const pageSize = 50;

export function Deliveries() {
  const id = matchPath('/deliveries/:id?', path.value)?.id;
  const filters = filtersOf(query.value);
  const key = JSON.stringify(filters);
  const choice = useChoice(key);
  const log = useLiveList<Delivery>({
    key,
    read: async (cursor, signal) => {
      const address = withQuery('/v1/deliveries', { ...filters, limit: pageSize, cursor });
      const { deliveries, nextCursor } = await read<DeliveryPage>(address, signal);
      return { rows: deliveries, nextCursor };
    },
    readOne: ({ deliveryId }, signal) => read<DeliveryDetails>(`/v1/deliveries/${deliveryId}`, signal),
    idOf: ({ deliveryId }) => deliveryId,
    isChanging: isUnfinished,
    newText: (count) => countText(count, 'new delivery', 'new deliveries'),
  });
  useReturn(id, log.list);
  useEffect(() => void onDemand().catch(() => undefined), []); // a row may be opened next
  const close = () => navigate(addressOf(null));
  const isFiltered = Object.keys(filters).length > 0;
  const pages = log.shown?.pages ?? [];
  const rows = pages.flatMap((page) => page.rows);
  return (
    <div class={`log ${id ? 'with-panel' : ''}`}>
      <div class="log-main">
        <PageHead
          title="Deliveries"
          actions={
            <Link class="button" href={withQuery('/recover', recoverable(filters))}>
              Recover…
            </Link>
          }
        >
          Each notification, your server's response, and what is still owed.
        </PageHead>
        <FilterBar
          filters={filters}
          responded={rows.flatMap(({ lastAttempt }) => lastAttempt?.statusCode ?? [])}
        />
        <LiveRows
          live={log}
          error={log.error?.details.length ? <Refused error={log.error} /> : undefined}
          older={rows.length === 0 ? 'Look further back' : 'Load older'}
          actions={rows.length > 0 && <ChoiceBar rows={rows} {...choice} />}
        >
          {rows.length === 0 ? (
            <NoDeliveries isFiltered={isFiltered} hasOlder={log.hasOlder} />
          ) : (
            <DeliveryTable pages={pages} selected={id} choice={choice} />
          )}
        </LiveRows>
      </div>
      {id && <DeliveryPanel id={id} {...neighboursOf(id, rows)} onClose={close} onRead={log.put} />}
    </div>
  );
}

/** Keeps the filters, so that the list stays as it is. */
const addressOf = (id: string | null) =>
  `/deliveries${id ? `/${id}` : ''}${query.value.size > 0 ? `?${query.value.toString()}` : ''}`;

function neighboursOf(id: string, rows: Delivery[]) {
  const at = rows.findIndex(({ deliveryId }) => deliveryId === id);
  const addressAt = (place: number) => {
    const row = at === -1 ? undefined : rows[place];
    return row ? addressOf(row.deliveryId) : null;
  };
  return { previous: addressAt(at - 1), next: addressAt(at + 1) };
}

const recoverable = ({ webhookId, from, to }: Record<string, string | undefined>) => ({
  webhookId,
  from,
  to,
});

/** The address may name filters that cannot be, after an edit by hand. */
const Refused = ({ error }: { error: ApiError }) => (
  <div class="empty" role="alert">
    <h2>These filters are not valid</h2>
    {error.details.map(({ path, message }) => (
      <p key={path}>
        <code>{path}</code> {message}
      </p>
    ))}
    <ClearFilters />
  </div>
);

const ClearFilters = () => (
  <p class="more">
    <Button onClick={() => setQuery(noFilters)}>Clear the filters</Button>
  </p>
);

/** The filter by response looks at some thousands of deliveries at a time: an empty page need not be the end. */
const NoDeliveries = ({ isFiltered, hasOlder }: { isFiltered: boolean; hasOlder: boolean }) =>
  isFiltered ? (
    <Empty title={hasOlder ? 'None among the newest' : 'Nothing matches these filters'}>
      <p>The log is kept for 30 days, unless the operator has set another time.</p>
      <ClearFilters />
    </Empty>
  ) : (
    <Empty title="Nothing has been sent yet">
      <p>
        Each state of a shipment is sent to every webhook that is interested in it, and is shown here at once.
      </p>
      <p>
        <Link href="/webhooks?start=1">Start with a webhook and a sample order</Link>
      </p>
    </Empty>
  );

/**
 * A row that the panel leads to comes into view. When the panel closes, the focus goes back to the row that opened it,
 * and on a phone, where the panel was a page, the list scrolls back too.
 */
function useReturn(id: string | undefined, list: { current: HTMLElement | null }): void {
  const before = useRef<{ id: string; scrollY: number } | null>(null);
  const lastScrollY = useRef(0);
  useEffect(() => {
    if (id) return;
    const remember = () => (lastScrollY.current = scrollY);
    remember();
    addEventListener('scroll', remember, { passive: true });
    return () => removeEventListener('scroll', remember);
  }, [id]);
  useLayoutEffect(() => {
    if (id) {
      if (before.current) rowOf(list.current, id)?.scrollIntoView({ block: 'nearest' });
      before.current = { id, scrollY: before.current?.scrollY ?? lastScrollY.current };
      return;
    }
    if (!before.current) return;
    const { id: left, scrollY: top } = before.current;
    before.current = null;
    if (isOnePage.value) scrollTo(0, top);
    const target = rowOf(list.current, left)?.querySelector('a') ?? document.querySelector('h1');
    (target as HTMLElement | null)?.focus({ preventScroll: true });
  }, [id]);
}

const rowOf = (list: HTMLElement | null, id: string) => list?.querySelector(`[data-row="${CSS.escape(id)}"]`);

/** Each column has a class, which sets its width, and hides it where there is no space for it. */
const columns = [
  ['status', 'Status'],
  ['state', 'State'],
  ['shipment', 'Shipment'],
  ['webhook', 'Webhook'],
  ['attempts', 'Attempts', 'number'],
  ['response', 'Last response'],
  ['time', 'Time', 'number'],
] as const;

/** A row opens its delivery; its link is what the keyboard reaches. */
function DeliveryTable({
  pages,
  selected,
  choice,
}: {
  pages: Page<Delivery>[];
  selected: string | undefined;
  choice: Choice;
}) {
  const shown = pages.flatMap(({ rows }) => rows);
  return (
    <div class="table-wrap">
      <table class="deliveries">
        <thead>
          <tr>
            {choice.chosen && (
              <th scope="col" class="delivery-choice">
                <span class="unseen">Selected</span>
              </th>
            )}
            {columns.map(([part, name, kind]) => (
              <th key={part} scope="col" class={`delivery-${part} ${kind ?? ''}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {pages.map(({ cursor, rows }) => (
          <Rows key={cursor ?? ''} {...{ rows, shown, selected, choice }} />
        ))}
      </table>
    </div>
  );
}

interface RowsProps {
  rows: Delivery[];
  /** The rows of all pages. */
  shown: Delivery[];
  selected: string | undefined;
  choice: Choice;
}

/** A page of rows, which is drawn again only if it changes: another page below it is drawn alone. */
function Rows({ rows, shown, selected, choice: { chosen, choose } }: RowsProps) {
  const webhooks = useWebhookList();
  const selectedHere = rows.find(({ deliveryId }) => deliveryId === selected);
  const others = rows.some(({ heldBy }) => heldBy === 'TURN') ? shown : rows;
  return useMemo(
    () => (
      <tbody>
        {rows.map((delivery) => (
          <Row
            key={delivery.deliveryId}
            delivery={delivery}
            webhook={webhookName(webhooks, delivery)}
            calls={callsOf(webhooks, delivery.webhookId)}
            blocker={blockerOf(delivery, others)}
            isSelected={delivery === selectedHere}
            checkbox={chosen && <ChoiceCell delivery={delivery} chosen={chosen} choose={choose} />}
          />
        ))}
      </tbody>
    ),
    [rows, others, webhooks, selectedHere, chosen],
  );
}

interface RowProps {
  delivery: Delivery;
  webhook: string;
  calls: Calls;
  blocker: Delivery | null;
  isSelected: boolean;
  checkbox: ComponentChildren;
}

function Row({ delivery, webhook, calls, blocker, isSelected, checkbox }: RowProps) {
  const { deliveryId, state, shipperTrackingId, attemptCount, createdAt } = delivery;
  const href = addressOf(deliveryId);
  return (
    <tr data-row={deliveryId} class={isSelected ? 'selected' : ''} onClick={opens(href)}>
      {checkbox}
      <td class="delivery-status">
        {isUnfinished(delivery) ? (
          <div class="delivery-wait">
            <DeliveryBadge delivery={delivery} />
            <Wait delivery={delivery} calls={calls} blocker={blocker} />
          </div>
        ) : (
          <DeliveryBadge delivery={delivery} />
        )}
      </td>
      <th scope="row" class="delivery-state">
        <Link href={href} aria-current={isSelected ? 'true' : undefined}>
          {wordOf(state)}
        </Link>
      </th>
      <td class="delivery-shipment cut">
        {shipperTrackingId ?? <span class="soft">{withoutShipment(delivery)}</span>}
      </td>
      <td class="delivery-webhook cut" title={webhook}>
        {webhook}
      </td>
      <td class="delivery-attempts number">{attemptCount}</td>
      <td class="delivery-response cut">{outcomeInShort(delivery.lastAttempt)}</td>
      <td class="delivery-time number">
        <Time at={createdAt} />
      </td>
    </tr>
  );
}

/** A component of its own, so that the clock draws only this again. */
const Wait = ({
  delivery,
  calls,
  blocker,
}: {
  delivery: Delivery;
  calls: Calls;
  blocker: Delivery | null;
}) => <small class="soft">{waitInShort(delivery, now.value, calls, blocker)}</small>;
