import { matchPath } from '../../match-path.js';
import { path } from '../../router.js';
import { ShipmentList } from './ShipmentList.js';
import { ShipmentPage } from './ShipmentPage.js';

export function Shipments() {
  const id = matchPath('/shipments/:id?', path.value)?.id;
  return id ? <ShipmentPage key={id} trackingId={id} /> : <ShipmentList />;
}
