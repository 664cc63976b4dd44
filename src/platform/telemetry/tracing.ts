import { pooledRandomBytes } from '../ids.js';

/** A span in its trace, as it is stored: 16 bytes of the trace's id and 8 of the span's (W3C Trace Context, level 1). */
export type TraceContext = Buffer;

/** Ids, codes and numbers only: no personal data, no address of a webhook, no secret. */
export type SpanAttributes = Record<string, string | number>;

export interface Span {
  context: TraceContext;
  /** It is exported when it ends. */
  isSampled: boolean;
  /** Notes that something happened in it, now. */
  event(name: string): void;
  /** A span that is not ended is not exported. */
  end(ended?: { attributes?: SpanAttributes; failed?: boolean; atMs?: number }): void;
}

export interface SpanStart {
  /** Its trace and the span above it; null begins a trace. */
  parent: TraceContext | null;
  kind?: 'server' | 'client';
  /** Milliseconds since 1970; default: now. */
  startedAtMs?: number;
  attributes?: SpanAttributes;
}

export interface Tracing {
  /** Whether spans that only measure are worth starting. */
  isExporting: boolean;
  start(name: string, start: SpanStart): Span;
  /** Exports what has ended, within a few seconds. */
  stop(): Promise<void>;
}

const noSpan: Omit<Span, 'context'> = { isSampled: false, event: () => undefined, end: () => undefined };

/** Traces keep their ids, and nothing is exported. */
export const withoutExport: Tracing = {
  isExporting: false,
  start: (_name, { parent }) => {
    const context = Buffer.allocUnsafe(24);
    (parent ?? pooledRandomBytes(16)).copy(context, 0, 0, 16);
    pooledRandomBytes(8).copy(context, 16);
    return { ...noSpan, context };
  },
  stop: () => Promise.resolve(),
};

export const traceIdOf = (context: TraceContext): string => context.toString('hex', 0, 16);
export const spanIdOf = (context: TraceContext): string => context.toString('hex', 16, 24);

/** W3C Trace Context, 3.2: later versions may add fields; `ff` is none. */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** The trace of a `traceparent` header; null if it is absent or invalid. Its flags are the caller's, and decide nothing. */
export function parseTraceparent(header: string | undefined): TraceContext | null {
  const [, version, traceId, spanId, more] = form.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return null;
  return Buffer.from(traceId + spanId, 'hex');
}

/** The `traceparent` header of a request made within the span. */
export const traceparentOf = ({ context, isSampled }: Pick<Span, 'context' | 'isSampled'>): string =>
  `00-${traceIdOf(context)}-${spanIdOf(context)}-${isSampled ? '01' : '00'}`;
