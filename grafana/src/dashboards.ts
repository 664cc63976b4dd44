import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { delivery } from './delivery.js';
import { internals } from './internals.js';
import { overview } from './overview.js';
import { receivers } from './receivers.js';
import { tenants } from './tenants.js';

const boards: Builder<Dashboard>[] = [overview, delivery, receivers, tenants, internals];

/** Every dashboard: the name of its file and its text. */
export const dashboardFiles: { name: string; text: string }[] = boards.map((builder) => {
  const dashboard = builder.build();
  return {
    name: `${dashboard.uid!.replace('parcelhook-', '')}.json`,
    text: `${JSON.stringify(dashboard, null, 2)}\n`,
  };
});
