import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHealth, type Health } from '../../../src/http/health.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';

let health: Health;
let server: Server;
let metrics: ReturnType<typeof createMetrics>;

beforeEach(async () => {
  metrics = createMetrics();
  health = createHealth({
    logger: createLogger('silent'),
    metrics,
    role: 'api',
    mayReadReasons: () => true,
  });
  server = express().use(health.page).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterEach(async () => {
  await health.stop();
  server.closeAllConnections();
  server.close();
});

/** The figures as Prometheus gets them, for the role of this process. */
const figures = async () => {
  const text = await metrics.text();
  const figure = (name: string) =>
    Number(new RegExp(`^parcelhook_${name}\\{role="api"\\} (\\d)$`, 'm').exec(text)?.[1]);
  return { ready: figure('ready'), draining: figure('draining') };
};

const readyz = async () => {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { httpStatus: response.status, ...((await response.json()) as { checks: Record<string, string> }) };
};

function slowCheck() {
  let begin!: () => void;
  let pass!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { check: () => (begin(), passed), begun, pass };
}

test('a check that passes with a text leaves the process ready, and is shown', async () => {
  health.use({ clock: () => Promise.resolve('40 s ahead') });
  expect(await readyz()).toMatchObject({ httpStatus: 200, checks: { clock: '40 s ahead' } });
});

test('a start check that passes after the next start step began does not make the process ready', async () => {
  const ofStart = slowCheck();
  health.use({ postgres: ofStart.check });
  const before = readyz();
  await ofStart.begun;
  health.use({ postgres: () => Promise.reject(new Error('the connection is gone')) });
  expect(await readyz()).toMatchObject({ httpStatus: 503, checks: { postgres: 'the connection is gone' } });
  ofStart.pass();
  expect(await before).toMatchObject({ httpStatus: 503 });
  expect(await figures()).toEqual({ ready: 0, draining: 0 });
  expect(await readyz()).toMatchObject({ httpStatus: 503, checks: { postgres: 'the connection is gone' } });
});

test('a check that passes after the process began to stop reports stopping', async () => {
  const slow = slowCheck();
  health.use({ postgres: slow.check });
  const before = readyz();
  await slow.begun;
  health.leave();
  slow.pass();
  for (const response of [await before, await readyz()])
    expect(response).toMatchObject({ httpStatus: 503, checks: { draining: 'the service is stopping' } });
  expect(await figures()).toEqual({ ready: 0, draining: 1 });
});

test('a process is not ready until its checks pass, and then says so with its role', async () => {
  expect(await figures()).toEqual({ ready: 0, draining: 0 });
  health.use({ postgres: () => Promise.resolve() });
  await readyz();
  expect(await figures()).toEqual({ ready: 1, draining: 0 });
});

test('a result is shared for a second, and not longer', async () => {
  let asked = 0;
  let well = true;
  const check = () => {
    asked += 1;
    return well ? Promise.resolve() : Promise.reject(new Error('the connection is gone'));
  };
  health.use({ postgres: check });
  for (const { httpStatus } of await Promise.all(Array.from({ length: 20 }, readyz)))
    expect(httpStatus).toBe(200);
  expect(asked).toBe(1);
  well = false;
  await sleep(1_050);
  expect(await readyz()).toMatchObject({ httpStatus: 503, checks: { postgres: 'the connection is gone' } });
});
