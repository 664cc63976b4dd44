import { setTimeout as sleep } from 'node:timers/promises';
import { createThrottledWarn, type Logger } from './logger.js';
import { spanIdOf, traceIdOf, type TraceContext, type Tracing } from './tracing.js';

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface OtlpOptions {
  sampler: (typeof samplers)[number];
  /** Share of traces, for the samplers by ratio. */
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
  const { AlwaysOffSampler, AlwaysOnSampler, TraceIdRatioBasedSampler } = tracing;
  const kind = sampler.replace('parentbased_', '');
  const byTraceId =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
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
        event: (event) => void span.addEvent(event, Date.now()),
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
