import { setTimeout as sleep } from 'node:timers/promises';
import type { Alert } from './prometheus.js';

export type Told = Map<string, number>;

/**
 * Alertmanager waits for a cause before it tells anything: 30 s as shipped (`group_wait`). Ages are divided by less than
 * other durations, so that a cause that rests on one comes as much later here.
 */
export const toldAfterSeconds = 15;
const lookEveryMs = 500;

export const keyOf = ({ environment, alertname }: Pick<Alert, 'environment' | 'alertname'>): string =>
  `${environment} ${alertname}`;

/** Notes what is told in one stretch for long enough, each look once; pure. */
export function createTold() {
  const since = new Map<string, number>();
  const told: Told = new Map();
  return {
    told,
    look: (alerts: Alert[], seconds: number) => {
      const now = new Set(alerts.filter(({ severity }) => severity !== 'none').map(keyOf));
      for (const key of since.keys()) if (!now.has(key)) since.delete(key);
      for (const key of now) {
        if (!since.has(key)) since.set(key, seconds);
        const first = since.get(key)!;
        if (seconds - first >= toldAfterSeconds && !told.has(key)) told.set(key, first);
      }
    },
  };
}

export async function watch(
  alerts: () => Promise<Alert[]>,
  isOver: (told: Told, seconds: number) => boolean,
): Promise<Told> {
  const { told, look } = createTold();
  const startedAt = performance.now();
  for (;;) {
    const list = await alerts();
    const seconds = (performance.now() - startedAt) / 1_000;
    look(list, seconds);
    if (isOver(told, seconds)) return told;
    await sleep(lookEveryMs);
  }
}
