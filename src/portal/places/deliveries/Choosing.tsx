import { useState } from 'preact/hooks';
import type { Delivery } from '../../../client/api/types.js';
import { Button } from '../../parts/Button.js';
import { lazy } from '../../parts/lazy.js';
import { announce } from '../../parts/Toast.js';
import { session } from '../../session.js';
import { withoutShipment, wordOf } from '../../words.js';

const SendAgain = lazy(async () => (await import('../on-demand.js')).SendAgain);
const maxChosen = 50;
const none: ReadonlyMap<string, Delivery> = new Map();
const mayBeSent = ({ status }: Delivery) => status !== 'CANCELLED';

export interface Choice {
  /** By their ids; null where nothing can be changed. */
  chosen: ReadonlyMap<string, Delivery> | null;
  choose: (deliveries: Delivery[]) => void;
}

/** The deliveries chosen to be sent again, of those that the filters let in. */
export function useChoice(key: string): Choice {
  const [{ chosen, of }, setChoice] = useState({ chosen: none, of: key });
  const choose = (deliveries: Delivery[]) => {
    const all = deliveries.slice(0, maxChosen).map((one) => [one.deliveryId, one] as const);
    setChoice({ chosen: new Map(all), of: key });
    announce(`${all.length} selected`);
  };
  if (session.value?.readOnly) return { chosen: null, choose };
  return { chosen: of === key ? chosen : none, choose };
}

export function ChoiceBar({ rows, chosen, choose }: Choice & { rows: Delivery[] }) {
  const [isAsking, setIsAsking] = useState(false);
  if (!chosen) return null;
  const possible = rows.filter(mayBeSent).slice(0, maxChosen);
  const areAll = chosen.size > 0 && possible.every(({ deliveryId }) => chosen.has(deliveryId));
  const close = (unsent: Delivery[]) => {
    setIsAsking(false);
    choose(unsent);
  };
  return (
    <div class={`choice-bar ${chosen.size > 0 ? 'is-used' : ''}`}>
      <label class="check">
        <input
          type="checkbox"
          checked={areAll}
          indeterminate={!areAll && chosen.size > 0}
          onChange={() => choose(chosen.size > 0 ? [] : possible)}
        />
        Select all shown
      </label>
      {chosen.size > 0 && (
        <Button class="small" onClick={() => setIsAsking(true)}>
          Send {chosen.size} again…
        </Button>
      )}
      {isAsking && <SendAgain deliveries={[...chosen.values()]} maxChosen={maxChosen} onClose={close} />}
    </div>
  );
}

/** A delivery that was cancelled cannot be chosen: it is not sent any more. */
export function ChoiceCell({
  delivery,
  chosen,
  choose,
}: {
  delivery: Delivery;
  chosen: ReadonlyMap<string, Delivery>;
  choose: Choice['choose'];
}) {
  const { deliveryId, state, shipperTrackingId } = delivery;
  const isChosen = chosen.has(deliveryId);
  const others = [...chosen.values()].filter((one) => one.deliveryId !== deliveryId);
  return (
    <td class="delivery-choice">
      {mayBeSent(delivery) && (
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${wordOf(state)} of ${shipperTrackingId ?? withoutShipment(delivery)}`}
            checked={isChosen}
            disabled={!isChosen && chosen.size >= maxChosen}
            onChange={() => choose(isChosen ? others : [...others, delivery])}
          />
        </label>
      )}
    </td>
  );
}
