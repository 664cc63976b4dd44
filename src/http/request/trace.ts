import type { Request, Response } from 'express';
import * as z from 'zod';
import {
  parseTraceparent,
  traceIdOf,
  type TraceContext,
  type Tracing,
} from '../../platform/telemetry/tracing.js';
import { arrivedAt } from '../connections/intake.js';
import { described } from './fields.js';

/** Declares the header; one that is no valid `traceparent` is ignored, as its specification says. */
export const traceHeaders = {
  traceparent: described(
    z.string(),
    'W3C Trace Context. Every notification that this request causes is sent with its trace id. If it is absent or invalid, a new trace begins. The sampled flag and `tracestate` are ignored.',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    { pattern: String.raw`^(\S(.*\S)?)?$` },
  ).optional(),
};

/** Runs `work` within a span of its request, which names the trace in its log line. */
export async function traced<T>(
  tracing: Tracing,
  { request, response }: { request: Request; response: Response },
  work: (context: TraceContext) => Promise<T>,
): Promise<T> {
  const span = tracing.start('accept', {
    parent: parseTraceparent(request.get('traceparent')),
    kind: 'server',
    startedAtMs: Date.now() - (performance.now() - arrivedAt(request)),
    attributes: {
      'http.request.method': request.method,
      'http.route': (request.route as { path: string }).path,
    },
  });
  response.locals.traceId = traceIdOf(span.context);
  try {
    const result = await work(span.context);
    span.end();
    return result;
  } catch (error) {
    span.end({ failed: true });
    throw error;
  }
}
