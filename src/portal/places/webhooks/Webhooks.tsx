import { PageHead } from '../../parts/Page.js';

export function Webhooks() {
  return <PageHead title="Webhooks" />;
}
