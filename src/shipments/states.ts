import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { describeIssue } from '../platform/issues.js';

const stateName = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must match ^[A-Z][A-Z0-9_]{0,63}$');

const catalogueFile = z.object({
  initial: stateName,
  states: z.array(z.object({ name: stateName, next: z.array(stateName) })).min(1),
});
type CatalogueFile = z.output<typeof catalogueFile>;

/** For the documents: what a state of the default catalogue says of its shipment. */
const meanings: Record<string, string> = {
  CREATED: 'the order is accepted, and the parcel waits at the shipper',
  PICKED_UP: 'the carrier has the parcel',
  IN_TRANSIT: 'it is on its way; sent again at each stop',
  OUT_FOR_DELIVERY: 'the courier brings it today',
  DELIVERED: 'the recipient has it',
  DELIVERY_FAILED: 'nobody took it; another attempt or its return follows',
  RETURNING: 'it is on its way back to the shipper',
  RETURNED: 'the shipper has it back',
  CANCELLED: 'the order was cancelled before its delivery began',
  LOST: 'the carrier cannot find it',
};

export const meaningsText = `By default:\n\n${Object.entries(meanings)
  .map(([state, meaning]) => `- \`${state}\`: ${meaning}`)
  .join('\n')}`;

/** A state without `next` is terminal. */
const defaultCatalogue: CatalogueFile = {
  initial: 'CREATED',
  states: [
    { name: 'CREATED', next: ['PICKED_UP', 'CANCELLED', 'LOST'] },
    { name: 'PICKED_UP', next: ['IN_TRANSIT', 'RETURNING', 'CANCELLED', 'LOST'] },
    { name: 'IN_TRANSIT', next: ['IN_TRANSIT', 'OUT_FOR_DELIVERY', 'RETURNING', 'LOST'] },
    { name: 'OUT_FOR_DELIVERY', next: ['DELIVERED', 'DELIVERY_FAILED', 'RETURNING', 'LOST'] },
    { name: 'DELIVERY_FAILED', next: ['OUT_FOR_DELIVERY', 'IN_TRANSIT', 'RETURNING', 'LOST'] },
    { name: 'RETURNING', next: ['RETURNED', 'LOST'] },
    { name: 'DELIVERED', next: [] },
    { name: 'RETURNED', next: [] },
    { name: 'CANCELLED', next: [] },
    { name: 'LOST', next: [] },
  ],
};

export type StateCatalogue = ReturnType<typeof createCatalogue>;

export function createCatalogue(file: CatalogueFile = defaultCatalogue) {
  const next = new Map(file.states.map((state) => [state.name, new Set(state.next)]));
  return {
    initial: file.initial,
    names: new Set(next.keys()) as ReadonlySet<string>,
    /** `from` is null before the shipment is created. */
    allows: (from: string | null, to: string) =>
      from === null ? to === file.initial : (next.get(from)?.has(to) ?? false),
    next: (from: string | null) => (from === null ? [file.initial] : [...(next.get(from) ?? [])]),
    isTerminal: (state: string) => next.get(state)?.size === 0,
  };
}

export function readCatalogue(path: string): StateCatalogue {
  const parsed = catalogueFile.safeParse(JSON.parse(readFileSync(path, 'utf8')), { error: describeIssue });
  if (!parsed.success) {
    throw new Error(
      parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; '),
    );
  }
  const names = new Set(parsed.data.states.map(({ name }) => name));
  const unknown = [parsed.data.initial, ...parsed.data.states.flatMap(({ next }) => next)].filter(
    (name) => !names.has(name),
  );
  if (unknown.length > 0)
    throw new Error(`names states that it does not define: ${[...new Set(unknown)].join(', ')}`);
  return createCatalogue(parsed.data);
}
