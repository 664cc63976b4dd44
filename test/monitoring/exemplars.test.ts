import { test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openMetricsType } from '../../src/platform/telemetry/exemplars.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { until } from '../support/until.js';
import { isInstalled, startPrometheus } from './prometheus.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

(isInstalled() ? test : test.skip)(
  'Prometheus reads a page with exemplars as it reads one without, and gives their traces',
  async () => {
    const metrics = createMetrics({ isExporting: true, isExported: () => true });
    const { httpDuration, eventToSuccess, exemplars } = metrics;
    const server = createServer((request, response) => {
      const isOpen = request.url!.startsWith('/open') && request.headers.accept!.includes('openmetrics');
      void metrics.text().then((text) => {
        response.setHeader('content-type', isOpen ? openMetricsType : metrics.contentType);
        response.end(isOpen ? exemplars!.openMetrics(text) : text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const prometheus = await startPrometheus({ plain: url, open: `${url}/open` });
    try {
      const labels = { route: '/v1/shipments', method: 'POST', status: 201 };
      httpDuration.observe(labels, 0.03);
      exemplars!.keep(httpDuration, 0.03, traceId, labels);
      for (const seconds of [0.1, 1e6]) eventToSuccess.observe(seconds);
      exemplars!.keep(eventToSuccess, 1e6, traceId);
      // A page with a line that it does not understand is not read at all.
      await until('both have the same series', async () => {
        const counts = await prometheus.now(
          'count by (job) ({__name__=~"parcelhook_.+_(seconds|total|bucket)"})',
        );
        return counts.length === 2 && counts[0] === counts[1];
      });
      for (const name of ['http_request_duration_seconds', 'event_to_success_seconds'])
        await until(`the trace of ${name}`, async () => {
          const [found] = await prometheus.traces(`parcelhook_${name}_bucket{job="open"}`);
          return found === traceId;
        });
    } finally {
      await prometheus.stop();
      server.close();
    }
  },
);
