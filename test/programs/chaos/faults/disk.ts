import { respondedWithin, allThereWithin, goesOnWithin, notAccepted } from './figures.js';
import { flowsWithin } from '../world/flow.js';
import type { Fault, Injection } from './fault.js';
import { inFlightOfProcess } from '../world/service.js';

const needs = { disks: true };
const fullMs = 20_000;

const postgresFull: Fault = {
  name: 'F14-postgres',
  promise:
    'the disk of PostgreSQL full for 20 s, so that the server ends: no 2xx without a commit; delivering again within 30 s',
  needs,
  workers: 2,
  inFlight: 2 * inFlightOfProcess,
  inject: async ({ world: { disks, sql }, pause, mark }: Injection) => {
    await disks.postgres!.fill();
    await pause(fullMs / 2);
    // Eventually the write-ahead log needs its next file: then the whole server ends, and cannot restart.
    await sql('select pg_switch_wal()').catch(() => undefined);
    await pause(fullMs / 2);
    await disks.postgres!.free();
    mark();
  },
  figures: (outcome) => [
    respondedWithin(outcome, 3_000),
    goesOnWithin(outcome, 30_000),
    allThereWithin(outcome, 60_000),
  ],
};

const redisFull: Fault = {
  name: 'F14-redis',
  promise: 'the disk of Redis full for 20 s: every order accepted; delivering again within 30 s',
  needsRedis: true,
  needs,
  workers: 2,
  inFlight: 0,
  inject: async ({ world, pause, mark, note }: Injection) => {
    const disk = world.disks.redis!;
    await disk.fill();
    await pause(fullMs);
    await disk.free();
    mark();
    note(await flowsWithin(world, 30_000));
  },
  figures: (outcome) => [
    respondedWithin(outcome, 1_000),
    notAccepted(outcome),
    goesOnWithin(outcome, 30_000),
    allThereWithin(outcome, 60_000),
  ],
};

export const diskFaults: Fault[] = [postgresFull, redisFull];
