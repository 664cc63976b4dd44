import { PageHead } from '../../parts/Page.js';

export function Doctor() {
  return <PageHead title="Signature doctor" />;
}
