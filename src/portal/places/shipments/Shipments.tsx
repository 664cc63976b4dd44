import { PageHead } from '../../parts/Page.js';

export function Shipments() {
  return <PageHead title="Shipments" />;
}
