import { databaseNowMs, monotonicMs } from '../../platform/clock.js';
import { describeError } from '../../platform/errors.js';
import type { ErrorLog } from '../../platform/telemetry/logger.js';
import { policyOf, type Destinations } from './destination.js';
import { type LookupOptions, createDnsResolver } from './dns/resolver.js';
import { detailOf, onlyErrorDetail } from './detail.js';
import { serviceHeaders, sign, timestampOf } from './headers.js';
import { isHeavy } from './handshakes.js';
import { failedOutcome, type Outgoing } from './messages.js';
import { createSender, type AttemptOutcome } from './sender.js';
import type { OpenTarget } from './targets.js';

/** Nothing but data: a thread gets a copy. */
export interface ExchangeSettings {
  destinations: Destinations;
  dns: LookupOptions;
  egressProxy?: string | undefined;
  timeoutMs: number;
  connectionMaxAgeMs?: number | undefined;
  /** Parcelhook's, for `user-agent`. */
  version: string;
  /** Certificate authorities (PEM) to trust instead of Node's, in tests. */
  certificateAuthority?: string | undefined;
}

export interface Exchange {
  /**
   * Signs and sends. Does not reject: a request that cannot be made is a failed attempt, so that it is not retried for
   * ever. `ask` is called right before the first byte if that is late. It resolves with the time until which the byte
   * may go (`monotonicMs`); null if it may not go any more.
   */
  attempt(target: OpenTarget, outgoing: Outgoing, ask: () => Promise<number | null>): Promise<AttemptOutcome>;
  close(): void;
}

/** `sharedBy`: the number of exchanges in the process, which share its limit of idle connections. */
export function createExchange(settings: ExchangeSettings, sharedBy: number, logger: ErrorLog): Exchange {
  const { timeoutMs, version } = settings;
  const sender = createSender({
    policy: policyOf(settings.destinations),
    dns: createDnsResolver(settings.dns, logger),
    egressProxy: settings.egressProxy,
    maxAgeMs: settings.connectionMaxAgeMs,
    certificateAuthority: settings.certificateAuthority,
    sharedBy,
  });
  const mayStart = (untilMs: number) => monotonicMs() <= untilMs;

  return {
    attempt: async (target, outgoing, ask) => {
      const { shipperId, eventId, body, sequence, number, erased, traceparent } = outgoing;
      const startedAt = new Date(databaseNowMs());
      const phaseEnds: AttemptOutcome['phaseEnds'] = [];
      try {
        const signature = sign(secretsOf(target, startedAt), eventId, timestampOf({ startedAt }), body);
        const signed = { eventId, sequence, number, startedAt, signature, version, traceparent };
        const own = serviceHeaders(signed, target.headers);
        const sent = await sender.send({
          url: target.url,
          shipperId,
          body,
          timeoutMs,
          headers: [...target.headers, ...own],
          mayStart: () =>
            mayStart(outgoing.startUntilMs) || ask().then((untilMs) => untilMs !== null && mayStart(untilMs)),
          onPhase: outgoing.isTraced ? (phase) => void phaseEnds.push([phase, Date.now()]) : undefined,
        });
        const request = { url: target.url, ownHeaders: target.headers, serviceHeaders: own, body, erased };
        return {
          startedAt,
          ok: sent.ok,
          withheld: sent.withheld,
          statusCode: sent.statusCode,
          errorCode: sent.errorCode,
          responseBody: erased ? null : sent.responseBody,
          durationMs: sent.durationMs,
          retryAfter: sent.retryAfter,
          webhookDelivery: sent.webhookDelivery,
          detail: sent.ok && !outgoing.keepsDetail ? onlyErrorDetail(sent) : detailOf(sent, request),
          phaseEnds,
          queuedMs: 0,
          isHeavy: isHeavy(sent),
        };
      } catch (error) {
        logger.error(
          { eventId, error: describeError(error) },
          'request not made; the attempt counts as failed',
        );
        return failedOutcome('PROTOCOL', startedAt);
      }
    },
    close: () => sender.close(),
  };
}

function secretsOf({ secret, earlierSecrets }: OpenTarget, now: Date): string[] {
  if (earlierSecrets.length === 0) return [secret];
  const nowMs = now.getTime();
  return [secret, ...earlierSecrets.flatMap((earlier) => (earlier.untilMs > nowMs ? earlier.secret : []))];
}
