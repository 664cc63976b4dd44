import { query } from '../../router.js';
import { OfAttempt } from './OfAttempt.js';
import { OfPasted } from './OfPasted.js';

/**
 * Says why a notification does not verify. It runs here alone: a secret and what is pasted are in the components and
 * nowhere else, neither in the address nor in a store, and are sent nowhere. `?delivery=…&attempt=…` names an attempt of
 * the log.
 */
export function Doctor() {
  const deliveryId = query.value.get('delivery');
  const number = Number(query.value.get('attempt'));
  if (!deliveryId) return <OfPasted />;
  return <OfAttempt key={`${deliveryId} ${number}`} deliveryId={deliveryId} number={number} />;
}
