import { createServer } from 'node:http';

export interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: object }[];
  events: { name: string }[];
}

interface ExportRequest {
  resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[];
}

export interface Collector {
  /** The variables that make a process of the service export to it. */
  env: Record<string, string>;
  spans: ExportedSpan[];
  /** All requests as they came. */
  text(): string;
  close(): Promise<void>;
}

/** An OpenTelemetry collector on loopback (OTLP over HTTP, as JSON). One that hangs never responds. */
export async function startCollector({ hangs = false } = {}): Promise<Collector> {
  const spans: ExportedSpan[] = [];
  let text = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      text += `${request.method} ${request.url} ${JSON.stringify(request.headers)}\n${body}\n`;
      if (request.url === '/v1/traces')
        for (const { scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans)
          spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    spans,
    text: () => text,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
