import { pooledRandomBytes } from '../ids.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { createThrottledWarn, type Logger } from './logger.js';

/** A span in its trace, as it is stored: 16 bytes of the trace's id and 8 of the span's (W3C Trace Context, level 1). */
export type TraceContext = Buffer;

/** Ids, codes and numbers only: no personal data, no address of a webhook, no secret. */
export type SpanAttributes = Record<string, string | number>;

export interface Span {
  context: TraceContext;
  isSampled: boolean;
  /** `atMs` is an epoch time. */
  event(name: string, atMs: number): void;
  end(ended?: { attributes?: SpanAttributes; failed?: boolean; atMs?: number }): void;
}

export interface SpanStart {
  /** Its trace and the span above it; null begins a trace. */
  parent: TraceContext | null;
  kind?: 'server' | 'client';
  startedAtMs?: number;
  attributes?: SpanAttributes;
}

export interface Tracing {
  /** Whether spans that only measure are worth starting. */
  isExporting: boolean;
  isExported(traceId: string): boolean;
  start(name: string, start: SpanStart): Span;
  stop(): Promise<void>;
}

const nothing = () => undefined;

/** Traces keep their ids, and nothing is exported. */
export const withoutExport: Tracing = {
  isExporting: false,
  isExported: () => false,
  start: (_name, { parent }) => {
    const context = Buffer.allocUnsafe(24);
    (parent ?? pooledRandomBytes(16)).copy(context, 0, 0, 16);
    pooledRandomBytes(8).copy(context, 16);
    return { context, isSampled: false, event: nothing, end: nothing };
  },
  stop: () => Promise.resolve(),
};

export const traceIdOf = (context: TraceContext): string => context.toString('hex', 0, 16);
export const spanIdOf = (context: TraceContext): string => context.toString('hex', 16, 24);

/** W3C Trace Context, 3.2: later versions may add fields; `ff` is none. */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

export function parseTraceparent(header: string | undefined): TraceContext | null {
  const [, version, traceId, spanId, more] = form.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return null;
  return Buffer.from(traceId + spanId, 'hex');
}

export const traceparentOf = ({ context, isSampled }: Pick<Span, 'context' | 'isSampled'>): string =>
  `00-${traceIdOf(context)}-${spanIdOf(context)}-${isSampled ? '01' : '00'}`;

/** The header of a span that is not exported: such a span is no more than its id. */
export const childTraceparent = (parent: TraceContext): string =>
  `00-${traceIdOf(parent)}-${pooledRandomBytes(8).toString('hex')}-00`;

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

interface OtlpOptions {
  sampler: (typeof samplers)[number];
  ratio: number;
  version: string;
  logger: Logger;
}

const flushMs = 3_000;

/**
 * Exports spans. The SDK is loaded here, only where it is used, and reads the other variables of OpenTelemetry itself:
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_SERVICE_NAME and so on.
 *
 * Every span is sampled by its trace's id alone, as the first of a trace would be: so all processes decide alike, and a
 * caller's flag decides nothing.
 */
export async function startOtlp({ sampler, ratio, version, logger }: OtlpOptions): Promise<Tracing> {
  const { NodeSDK, api, resources, tracing } = await import('@opentelemetry/sdk-node');
  const kind = sampler.replace('parentbased_', '');
  const share = kind === 'always_on' ? 1 : kind === 'always_off' ? 0 : ratio;
  const byTraceId = new tracing.TraceIdRatioBasedSampler(share);
  const warn = createThrottledWarn(logger, 'spans not exported');
  const ignore = () => undefined;
  api.diag.setLogger(
    { error: (text) => warn(new Error(text)), warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const sdk = new NodeSDK({
    // Detectors of the process and its host would export the command line.
    resource: resources.resourceFromAttributes({ 'service.name': 'parcelhook', 'service.version': version }),
    resourceDetectors: [resources.envDetector],
    sampler: byTraceId,
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
  });
  sdk.start();
  const tracer = api.trace.getTracer('parcelhook', version);
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT };
  const within = (context: TraceContext) =>
    api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId: traceIdOf(context),
      spanId: spanIdOf(context),
      traceFlags: api.TraceFlags.NONE,
      isRemote: true,
    });
  return {
    isExporting: true,
    isExported: (traceId) =>
      byTraceId.shouldSample(null, traceId).decision === tracing.SamplingDecision.RECORD_AND_SAMPLED,
    start: (name, { parent, kind, startedAtMs, attributes }) => {
      const span = tracer.startSpan(
        name,
        {
          kind: kind === undefined ? api.SpanKind.INTERNAL : kinds[kind],
          startTime: startedAtMs ?? Date.now(),
          ...(attributes && { attributes }),
        },
        parent === null ? api.ROOT_CONTEXT : within(parent),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        context: Buffer.from(traceId + spanId, 'hex'),
        isSampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0,
        event: (event, atMs) => void span.addEvent(event, atMs),
        end: ({ attributes = {}, failed = false, atMs = Date.now() } = {}) => {
          span.setAttributes(attributes);
          if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end(atMs);
        },
      };
    },
    stop: () => Promise.race([sdk.shutdown().catch(warn), sleep(flushMs, undefined, { ref: false })]),
  };
}
