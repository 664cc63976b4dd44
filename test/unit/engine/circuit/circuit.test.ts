import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Outcomes,
  applyOutcomes as applyWithin,
  type Result,
} from '../../../../src/engine/circuit/circuit.js';
import { createCircuitCounter } from '../../../../src/engine/circuit/counter.js';
import { newCircuit, type Circuit } from '../../../../src/engine/circuit/store.js';
import { durationsOf } from '../../../../src/platform/durations.js';
import type { Claim } from '../../../../src/engine/outbox/types.js';
import { createLogger } from '../../../../src/platform/telemetry/logger.js';

const durations = durationsOf().circuit;
const applyOutcomes = (before: Circuit, outcomes: Outcomes, now: Date) =>
  applyWithin(before, outcomes, now, durations);

const start = new Date('2026-01-01T00:00:00Z');
const later = (ms: number) => new Date(start.getTime() + ms);
const outcomes = (
  attempts: number,
  failures: number,
  probe: Outcomes['probe'] = null,
  retryAfterMs = 0,
): Outcomes => ({
  storedAddress: 'http://receiver.test/',
  attempts,
  failures,
  failedDeliveries: [],
  succeededAgoMs: attempts > failures ? 0 : null,
  probe,
  retryAfterMs,
  lastFailure: failures > 0 ? '500' : null,
});

describe('circuit breaker', () => {
  test('stays closed below ten attempts in a minute, whatever their outcomes', () => {
    const { circuit, transition } = applyOutcomes(newCircuit(start), outcomes(9, 9), later(1_000));
    expect([circuit.openUntil, transition]).toEqual([null, null]);
    const next = applyOutcomes(circuit, outcomes(1, 1), later(61_000));
    expect(next.transition).toBeNull();
  });

  test('opens for 30 s when nine of ten attempts fail', () => {
    const { circuit, transition } = applyOutcomes(newCircuit(start), outcomes(10, 9), later(1_000));
    expect(transition).toBe('OPENED');
    expect(circuit.openUntil).toEqual(later(31_000));
  });

  test('stays closed when more than a tenth succeed', () => {
    expect(applyOutcomes(newCircuit(start), outcomes(100, 89), start).transition).toBeNull();
  });

  test('each failed probe doubles the wait, up to ten minutes', () => {
    let circuit = applyOutcomes(newCircuit(start), outcomes(10, 10), start).circuit;
    const waits: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      const now = circuit.openUntil!;
      circuit = applyOutcomes(circuit, outcomes(1, 1, 'FAILED'), now).circuit;
      waits.push((circuit.openUntil!.getTime() - now.getTime()) / 1_000);
    }
    expect(waits).toEqual([60, 120, 240, 480, 600, 600, 600]);
  });

  test.each([
    [600_000, 600],
    [45_000, 60],
  ])(
    'after a probe with Retry-After of %d ms the next comes in %d s, never earlier than without',
    (askedMs, waitS) => {
      const { circuit } = applyOutcomes(newCircuit(start), outcomes(10, 10), start);
      const { openUntil } = applyOutcomes(circuit, outcomes(1, 1, 'FAILED', askedMs), start).circuit;
      expect(openUntil).toEqual(later(waitS * 1_000));
    },
  );

  test('a successful probe closes it and resets its counts', () => {
    const open = applyOutcomes(newCircuit(start), outcomes(10, 10), start).circuit;
    const { circuit, transition } = applyOutcomes(open, outcomes(1, 0, 'SUCCEEDED'), later(31_000));
    expect(transition).toBe('CLOSED');
    expect(circuit).toEqual({ ...newCircuit(later(31_000)), lastSuccessAt: later(31_000) });
  });

  test('only a probe closes an open circuit; a late success of an earlier attempt does not', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(50), fc.nat(50)), { maxLength: 20 }), (batches) => {
        let circuit: Circuit = applyOutcomes(newCircuit(start), outcomes(10, 10), start).circuit;
        for (const [successes, failures] of batches) {
          const result = applyOutcomes(circuit, outcomes(successes + failures, failures), later(5_000));
          expect(result.transition).toBeNull();
          circuit = result.circuit;
        }
        expect(circuit.openUntil).toEqual(later(30_000));
      }),
    );
  });

  test('failingSince is the first failure after the last success', () => {
    const one = applyOutcomes(newCircuit(start), outcomes(1, 1), later(1)).circuit;
    const two = applyOutcomes(one, outcomes(1, 1), later(2)).circuit;
    expect(two.failingSince).toEqual(later(1));
    const three = applyOutcomes(two, outcomes(2, 1), later(3)).circuit;
    expect(three.failingSince).toBeNull();
    expect(applyOutcomes(three, outcomes(1, 1), later(4)).circuit.failingSince).toEqual(later(4));
  });

  test('a success reported with a later failure keeps its time, and never goes back', () => {
    const mixed = { ...outcomes(2, 1), succeededAgoMs: 40_000 };
    const one = applyOutcomes(newCircuit(start), mixed, later(50_000)).circuit;
    expect(one.lastSuccessAt).toEqual(later(10_000));
    expect(applyOutcomes(one, outcomes(1, 1), later(51_000)).circuit.lastSuccessAt).toEqual(later(10_000));
    const two = applyOutcomes(one, outcomes(1, 0), later(52_000)).circuit;
    expect(applyOutcomes(two, mixed, later(53_000)).circuit.lastSuccessAt).toEqual(later(52_000));
  });

  test('a failing webhook counts its failed attempts and, as far as a verdict needs, their deliveries, until a success', () => {
    const failed = (failedDeliveries: string[], failures = 1) => ({
      ...outcomes(failures, failures),
      failedDeliveries,
    });
    const one = applyOutcomes(newCircuit(start), failed(['a', 'b'], 3), later(1)).circuit;
    const two = applyOutcomes(one, failed(['b', 'c', 'd'], 4), later(2)).circuit;
    expect(two).toMatchObject({
      failedAttempts: 7,
      failedDeliveries: ['a', 'b', 'c'],
      failingSince: later(1),
      lastFailedAt: later(2),
    });
    const success = applyOutcomes(two, outcomes(1, 0), later(3)).circuit;
    expect(success).toMatchObject({ failedAttempts: 0, failedDeliveries: [], lastFailedAt: null });
  });

  test('a refusal is no failure: it neither opens a circuit nor begins a failing, and closes none', () => {
    const refused = { ...outcomes(20, 0), succeededAgoMs: null };
    const calm = applyOutcomes(newCircuit(start), refused, later(1)).circuit;
    expect(calm).toMatchObject({ openUntil: null, failingSince: null, lastSuccessAt: null });
    const open = applyOutcomes(newCircuit(start), outcomes(10, 10), start).circuit;
    const probed = applyOutcomes(open, { ...refused, probe: 'REFUSED' }, later(31_000));
    expect(probed.transition).toBeNull();
    expect(probed.circuit).toMatchObject({ openUntil: open.openUntil, failingSince: start });
  });
});

describe('failing', () => {
  const hourMs = 3_600_000;
  const failed = (before: Circuit, now: Date, failures = 1) =>
    applyOutcomes(before, outcomes(failures, failures), now);

  test('begins when the circuit opens, and ends when it closes, once each', () => {
    const opened = failed(newCircuit(start), start, 10);
    expect([opened.turn, opened.circuit.told]).toEqual(['FAILING', 1]);
    const probed = applyOutcomes(opened.circuit, outcomes(1, 1, 'FAILED'), later(30_000));
    expect([probed.turn, probed.circuit.told]).toEqual([null, 1]);
    const late = applyOutcomes(probed.circuit, outcomes(1, 0), later(31_000));
    expect([late.turn, late.circuit.told]).toEqual([null, 1]);
    const closed = applyOutcomes(late.circuit, outcomes(1, 0, 'SUCCEEDED'), later(90_000));
    expect([closed.turn, closed.circuit.told]).toEqual(['RECOVERED', 0]);
  });

  test('begins with a third failed attempt an hour after the first, and ends with the next success', () => {
    const first = failed(newCircuit(start), start);
    const second = failed(first.circuit, later(hourMs));
    expect([first.turn, second.turn]).toEqual([null, null]);
    const third = failed(second.circuit, later(hourMs + 1));
    expect([third.turn, third.circuit.openUntil]).toEqual(['FAILING', null]);
    const fourth = failed(third.circuit, later(2 * hourMs));
    expect(fourth.turn).toBeNull();
    const success = applyOutcomes(fourth.circuit, outcomes(1, 0), later(3 * hourMs));
    expect([success.turn, success.circuit.told]).toEqual(['RECOVERED', 0]);
    expect(failed(success.circuit, later(4 * hourMs)).turn).toBeNull();
  });

  test('does not begin within an hour, however many attempts fail there', () => {
    let circuit = newCircuit(start);
    for (let n = 0; n < 59; n += 1) {
      const result = failed(circuit, later(n * 61_000));
      expect(result.turn).toBeNull();
      circuit = result.circuit;
    }
  });

  test('a success by an attempt from before an open circuit takes back the warnings, not the failing', () => {
    const open = { ...failed(newCircuit(start), start, 10).circuit, told: 3 };
    const { circuit, turn } = applyOutcomes(open, outcomes(1, 0), later(1_000));
    expect([circuit.told, turn]).toEqual([1, null]);
  });
});

describe('outcomes', () => {
  const windowMs = 1_500;
  const claim = { webhookId: 'webhook', deliveryId: 'delivery', troubled: false, isProbe: false } as Claim;

  function makeCounter() {
    const told: Outcomes[] = [];
    const counter = createCircuitCounter({
      logger: createLogger('silent'),
      windowMs,
      countOutcomes: (outcomes) => Promise.resolve(void told.push(...outcomes.values())),
    });
    const note = (result: Result, count = 1, storedAddress = 'http://receiver.test/') => {
      for (let n = 0; n < count; n += 1)
        counter.note(claim, storedAddress, result, 0, { statusCode: 500, errorCode: 'HTTP_STATUS' });
    };
    return { note, told, flushed: counter.flushed };
  }

  test('a failure is compared with the successes right before it, whenever the window began', async () => {
    const { note, told, flushed } = makeCounter();
    await sleep(windowMs * 0.8);
    note('SUCCEEDED', 5);
    await sleep(windowMs * 0.4);
    note('FAILED');
    await flushed();
    expect(told).toMatchObject([
      { attempts: 6, failures: 1, failedDeliveries: ['delivery'], lastFailure: '500' },
    ]);
    note('FAILED');
    await flushed();
    expect(told[1]).toMatchObject({ attempts: 1, failures: 1, succeededAgoMs: null });
  });

  test('old successes do not count', async () => {
    const { note, told, flushed } = makeCounter();
    note('SUCCEEDED', 5);
    await sleep(windowMs * 1.5);
    note('FAILED');
    await flushed();
    expect(told).toMatchObject([{ attempts: 1, failures: 1, succeededAgoMs: null }]);
  });

  test('a refusal counts as an attempt without a failure, but as no success', async () => {
    const { note, told, flushed } = makeCounter();
    note('REFUSED', 3);
    await flushed();
    expect(told).toEqual([]);
    note('FAILED');
    await flushed();
    expect(told).toMatchObject([{ attempts: 4, failures: 1, succeededAgoMs: null }]);
  });

  test('what went to another address is not counted with a failure', async () => {
    const { note, told, flushed } = makeCounter();
    note('SUCCEEDED', 5);
    note('FAILED', 1, 'http://other.test/');
    await flushed();
    expect(told).toMatchObject([{ storedAddress: 'http://other.test/', attempts: 1, succeededAgoMs: null }]);
  });
});
