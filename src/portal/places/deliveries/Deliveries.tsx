import { PageHead } from '../../parts/Page.js';

export function Deliveries() {
  return <PageHead title="Deliveries" />;
}
