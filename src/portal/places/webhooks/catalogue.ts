import { signal } from '@preact/signals';
import type { States } from '../../../client/api/types.js';
import { read } from '../../api.js';

/** The states of shipments, in the order of the catalogue; empty until they are read, once for the page. */
const states = signal<string[]>([]);
let reading: Promise<void> | undefined;

export function useStates(): string[] {
  reading ??= read<States>('/v1/states').then((data) => {
    states.value = data.states.map(({ state }) => state);
  });
  return states.value;
}

/** The notices about other webhooks; `*` does not include them. */
export const notices = [
  'WEBHOOK_FAILING',
  'WEBHOOK_RECOVERED',
  'WEBHOOK_DISABLING',
  'WEBHOOK_DISABLED',
  'DELIVERY_EXHAUSTED',
];
