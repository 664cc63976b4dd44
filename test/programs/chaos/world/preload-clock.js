/**
 * Loaded into a process of the service first: its wall clock is off by `CHAOS_CLOCK_MS` milliseconds, and from SIGUSR2
 * on by those in `CHAOS_CLOCK_FOLDER/<pid>`. Timers keep using the monotonic clock, as after any change of the clock.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const RealDate = Date;
let offsetMs = Number(process.env.CHAOS_CLOCK_MS ?? 0);
const now = () => RealDate.now() + offsetMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length ? args : [now()], newTarget),
  apply: (target) => new target(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

process.on('SIGUSR2', () => {
  offsetMs = Number(readFileSync(join(process.env.CHAOS_CLOCK_FOLDER ?? '', String(process.pid)), 'utf8'));
});
