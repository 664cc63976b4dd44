import { PageHead } from '../../parts/Page.js';

export function Recover() {
  return <PageHead title="Recover" />;
}
