/** A process exports its spans, or nothing, and stops in time. */
import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeOrder, registerAccount, registerWebhook, sampleOrder } from '../support/client.js';
import { startCollector } from '../support/collector.js';
import { startServiceToInspect, startServiceWith, stopProcess, type Service } from '../support/harness.js';
import { startReceiver } from '../support/receiver.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
let service: Service | undefined;
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** Starts and stops a service; the packages of OpenTelemetry that it loaded. */
async function loadedBy(env: Record<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-loaded-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  service = await startServiceToInspect({ ...env, NODE_V8_COVERAGE: folder });
  await service.stop();
  const reports = readdirSync(folder).filter((name) => name.startsWith('coverage-'));
  const urls = reports.flatMap((name) =>
    (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] }).result.map(
      ({ url }) => url,
    ),
  );
  expect(urls.some((url) => url.endsWith('/dist/main.js'))).toBe(true);
  return urls.filter((url) => url.includes('/node_modules/@opentelemetry/'));
}

test('a process without OTEL_EXPORTER_OTLP_ENDPOINT loads nothing of OpenTelemetry; with it, it does', async () => {
  expect(await loadedBy({})).toEqual([]);
  const collector = await startCollector();
  closing.push(collector.close);
  expect(await loadedBy(collector.env)).not.toEqual([]);
});

test('a process whose own sampling leaves a trace out exports nothing of it, whatever the caller’s flag', async () => {
  const collector = await startCollector();
  closing.push(collector.close);
  const env = {
    ...collector.env,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  };
  const sampling = await startServiceWith(env);
  const account = await registerAccount(sampling);
  const receiver = await startReceiver();
  closing.push(receiver.close);
  await registerWebhook(account, receiver.url);
  await account.call('/v1/shipments', { body: sampleOrder(), headers: { traceparent } });
  const [received] = await receiver.waitFor(1);
  expect(received!.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`));
  await sampling.stop(); // exports what is left
  expect(collector.spans).toEqual([]);
});

test('a process that stops exports its last spans, and waits a few seconds at most for a collector that hangs', async () => {
  for (const hangs of [false, true]) {
    const collector = await startCollector({ hangs });
    closing.push(collector.close);
    const stopping = await startServiceWith({ ...collector.env, OTEL_BSP_SCHEDULE_DELAY: '60000' });
    closing.push(stopping.stop);
    const account = await registerAccount(stopping);
    await placeOrder(account);
    const startedAt = performance.now();
    expect(await stopProcess(stopping.process)).toBe(0);
    expect(collector.spans.map(({ name }) => name)).toContain('accept');
    if (hangs) expect(performance.now() - startedAt).toBeLessThan(10_000);
  }
}, 90_000);
