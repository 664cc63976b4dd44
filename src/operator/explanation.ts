import type { Durations } from '../platform/durations.js';
import type { WaitedMs } from '../engine/engine.js';
import { maxAhead, type DeliveryFacts } from './delivery-facts.js';
import { isoOffset } from '../http/route.js';

/** The first to end comes first. */
export const waitReasons = [
  'DELETED',
  'SUSPENDED',
  'PAUSED',
  'DISABLED',
  'REPLAY_CANCELLED',
  'CIRCUIT',
  'TURN',
  'RETRY',
  'LIMIT',
  'RATE',
  'ROOM',
  'LEASE',
  'PARKED',
] as const;

interface Wait {
  reason: (typeof waitReasons)[number];
  until: Date | null;
  why: string;
  next: string;
}

type Pace = Pick<Durations, 'sweepEveryMs' | 'sweepRestEveryMs' | 'unattendedAfterMs'>;

const at = (time: Date) => isoOffset(time)!;
const seconds = (ms: number) => `${ms / 1_000} s`;
const sweeps = ({ sweepEveryMs }: Pace) =>
  `every ${seconds(sweepEveryMs)}, or less often if the outbox is long`;
const isAhead = (time: Date | null, now: Date): time is Date => time !== null && time > now;

/** `maxAttempts`: how many attempts the schedule gives a delivery. */
export function explain(facts: DeliveryFacts, pace: Pace, maxAttempts: number) {
  const claim = claimOf(facts);
  const waits = waitsOf(facts, claim, pace);
  const [first] = waits;
  const hand = facts.handRequestedAt && !claim?.isByHand ? byHand(facts, facts.handRequestedAt, pace) : null;
  const { why, next } = first ?? settled(facts, claim);
  const others = waits.slice(1).map((wait) => wait.why);
  const parked =
    facts.isParked && facts.place === 'OUTBOX'
      ? ['Its webhook is parked; this delivery has a row, so it goes out before what the webhook misses.']
      : [];
  return {
    deliveryId: facts.deliveryId,
    shipperId: facts.shipperId,
    webhookId: facts.webhookId,
    eventId: facts.eventId,
    shipmentId: facts.shipmentId,
    trackingId: facts.trackingId,
    sequence: facts.sequence,
    state: facts.state,
    asOf: isoOffset(facts.asOf),
    place: facts.place,
    status: facts.status,
    reason: facts.reason,
    attemptCount: facts.attemptCount,
    failureCount: facts.failureCount,
    dueAt: isoOffset(facts.dueAt),
    completedAt: isoOffset(facts.completedAt),
    waitsFor: waits.map(({ reason, until }) => ({ reason, until: isoOffset(until) })),
    behind: facts.behind,
    lastAttempt: facts.lastAttempt && {
      ...facts.lastAttempt,
      startedAt: at(new Date(facts.lastAttempt.startedAt)),
    },
    claim: claim && { ...claim, leaseUntil: isoOffset(claim.leaseUntil) },
    redeliveryRequestedAt: isoOffset(facts.handRequestedAt),
    why: [
      ...retryingOf(facts, first, maxAttempts),
      why,
      ...others,
      ...parked,
      ...attemptOf(facts),
      ...(hand ? [hand.why] : []),
    ].join(' '),
    next: [next, ...(hand ? [hand.next] : [])].join(' '),
  };
}

const whileRetrying: string[] = ['RETRY', 'LIMIT', 'ROOM'];

/** Says "Retrying 2/10." where the portal does; without the number where attempts by hand have made it meaningless. */
function retryingOf(
  { status, attemptCount }: DeliveryFacts,
  first: Wait | undefined,
  maxAttempts: number,
): string[] {
  if (status !== 'RETRY' || !first || !whileRetrying.includes(first.reason)) return [];
  return [attemptCount < maxAttempts ? `Retrying ${attemptCount}/${maxAttempts}.` : 'Retrying.'];
}

const waits: Record<keyof WaitedMs, string> = {
  turn: 'its turn',
  receiver: 'its receiver',
  circuit: 'an open circuit',
  paused: 'a webhook that was not called',
  rate: 'the pace of its webhook or host',
  us: 'us',
};
const toldFromMs = 1_000;

function attemptOf({ lastAttempt }: DeliveryFacts): string[] {
  if (!lastAttempt) return [];
  const { number, startedAt, errorCode, waitedMs } = lastAttempt;
  const waited = Object.entries(waitedMs ?? {}).flatMap(([cause, waitMs]) =>
    waitMs < toldFromMs ? [] : [`${Math.round(waitMs / 1_000)} s for ${waits[cause as keyof WaitedMs]}`],
  );
  return [
    ...(waited.length > 0
      ? [`Attempt ${number} began at ${at(new Date(startedAt))}, after ${waited.join(' and ')}.`]
      : []),
    ...(errorCode === 'LOST'
      ? [
          `Attempt ${number} was LOST: its process or thread ended before the outcome was known. It may have arrived.`,
        ]
      : []),
  ];
}

interface Claim {
  attempt: number;
  isByHand: boolean;
  leaseUntil: Date;
  hasLapsed: boolean;
}

function claimOf(facts: DeliveryFacts): Claim | null {
  const isByHand = facts.handLeaseUntil !== null;
  const leaseUntil = facts.handLeaseUntil ?? (facts.status === 'SENDING' ? facts.leaseUntil : null);
  if (leaseUntil === null) return null;
  const attempt = isByHand ? (facts.handNumber ?? facts.attemptCount) : facts.attemptCount;
  return { attempt, isByHand, leaseUntil, hasLapsed: leaseUntil <= facts.asOf };
}

function waitsOf(facts: DeliveryFacts, claim: Claim | null, pace: Pace): Wait[] {
  if (claim) return claim.hasLapsed ? [lapsed(claim, pace)] : [];
  if (facts.place === 'LOG') return [];
  if (facts.place === 'NOWHERE') return facts.isBehindParked ? [...holdsOf(facts, pace), parked()] : [];
  const waits = [...holdsOf(facts, pace), ...turnOf(facts, pace), ...retryOf(facts, pace)];
  if (waits.length > 0) return waits;
  if (facts.maxConcurrency !== null) return [limitOf(facts, facts.maxConcurrency)];
  if (facts.isSlowed) return [slowed(facts)];
  return [facts.maxPerSecond === null ? roomFor(facts, pace) : rateOf(facts, facts.maxPerSecond)];
}

function lapsed({ attempt, isByHand, leaseUntil }: Claim, pace: Pace): Wait {
  return {
    reason: 'LEASE',
    until: null,
    why: `Attempt ${attempt}${isByHand ? ', made by hand,' : ''} has not ended, and its lease expired at ${at(leaseUntil)}: its worker has died, or could not reach PostgreSQL.`,
    next: isByHand
      ? `A worker looks for such attempts every ${seconds(pace.sweepRestEveryMs)}. It records this one as LOST, and makes it again.`
      : `The next sweep takes it over (${sweeps(pace)}). It records the attempt as LOST, and the delivery is due again; a test ends.`,
  };
}

function holdsOf(facts: DeliveryFacts, pace: Pace): Wait[] {
  const { asOf, circuitOpenUntil: openUntil, probeUntil } = facts;
  const waits: Wait[] = [];
  const add = (reason: Wait['reason'], why: string, next: string, until: Date | null = null) =>
    waits.push({ reason, until, why, next });
  if (facts.isDeleted)
    add(
      'DELETED',
      'Its webhook is deleted.',
      `The next sweep cancels what is still owed to it (${sweeps(pace)}).`,
    );
  if (facts.isSuspended)
    add('SUSPENDED', 'Its shipper is suspended.', 'It continues when an operator resumes the shipper.');
  if (facts.webhookStatus === 'PAUSED')
    add(
      'PAUSED',
      facts.isPausedByOperator ? 'An operator has paused its webhook.' : 'Its webhook is paused.',
      facts.isPausedByOperator
        ? 'It continues when an operator resumes the webhook.'
        : 'It continues when the shipper sets the webhook to ACTIVE.',
    );
  if (facts.webhookStatus === 'DISABLED')
    add(
      'DISABLED',
      `Its webhook is disabled${facts.disabledReason ? ` (${facts.disabledReason})` : ''}.`,
      'It continues when the shipper sets the webhook to ACTIVE.',
    );
  if (facts.isWithdrawn)
    add(
      'REPLAY_CANCELLED',
      `Its replay ${facts.replayId} was cancelled.`,
      'A worker withdraws the deliveries of that replay, page by page; what was owed before stays owed.',
    );
  if (openUntil && isAhead(openUntil, asOf))
    add(
      'CIRCUIT',
      `The circuit of its webhook is open until ${at(openUntil)}.`,
      `The next sweep after that (${sweeps(pace)}) sends one delivery of the webhook as a probe. If it succeeds, the circuit closes and the others follow.`,
      openUntil,
    );
  else if (openUntil && isAhead(probeUntil, asOf))
    add(
      'CIRCUIT',
      `The circuit of its webhook is open, and a probe may be under way until ${at(probeUntil)}.`,
      'If the probe succeeds, the circuit closes and the others follow. If it fails, the circuit stays open for longer. If it has no outcome by then, another probe is sent.',
      probeUntil,
    );
  else if (openUntil)
    add(
      'CIRCUIT',
      `The circuit of its webhook is open, and a probe has been due since ${at(openUntil)}.`,
      `The next sweep sends one delivery of the webhook as a probe (${sweeps(pace)}).`,
    );
  return waits;
}

function turnOf({ waitsTurn, behind, behindUntil }: DeliveryFacts, pace: Pace): Wait[] {
  if (!waitsTurn) return [];
  if (!behind)
    return [
      {
        reason: 'TURN',
        until: null,
        why: 'It waits its turn, but nothing blocks it any more.',
        next: `The next sweep releases it (${sweeps(pace)}).`,
      },
    ];
  const hold = behindUntil ? ` It stops blocking at ${at(behindUntil)} at the latest (ORDER_HOLD).` : '';
  return [
    {
      reason: 'TURN',
      until: behindUntil,
      why: `It waits its turn behind delivery ${behind.deliveryId} (event ${behind.eventId}, sequence ${behind.sequence}, ${behind.status}).`,
      next: `Its turn comes when that delivery is finished: explain that one.${hold}`,
    },
  ];
}

function retryOf({ asOf, dueAt, failureCount }: DeliveryFacts, pace: Pace): Wait[] {
  if (!isAhead(dueAt, asOf)) return [];
  return [
    {
      reason: 'RETRY',
      until: dueAt,
      why: `It waits for its next attempt at ${at(dueAt)}; ${failureCount} scheduled attempts failed.`,
      next: `A worker sends it then. If none does, a sweep finds it ${seconds(pace.unattendedAfterMs)} later.`,
    },
  ];
}

const countOf = (ahead: number) => (ahead >= maxAhead ? `${maxAhead} or more` : String(ahead));

function roomFor({ dueAt, ahead, claimed, medianMs }: DeliveryFacts, pace: Pace): Wait {
  return {
    reason: 'ROOM',
    until: null,
    why: `It has been due since ${dueAt ? at(dueAt) : 'an unknown time'}, and ${countOf(ahead)} deliveries of its webhook have been due for longer. Workers have claimed ${claimed} deliveries of its webhook.${medianMs === null ? '' : ` Half of its receiver's responses took up to ${medianMs / 1_000} s in its last hour.`}`,
    next: `The lane of its webhook takes it with one of its next pages, the longest due first. If no worker serves the webhook, a sweep notifies the workers once the delivery has been due for ${seconds(pace.unattendedAfterMs)} (${sweeps(pace)}).`,
  };
}

const limitOf = ({ dueAt }: DeliveryFacts, maxConcurrency: number): Wait => ({
  reason: 'LIMIT',
  until: null,
  why: `It has been due since ${dueAt ? at(dueAt) : 'an unknown time'}. An operator allows its shipper ${maxConcurrency} ${maxConcurrency === 1 ? 'attempt' : 'attempts'} at once in each worker (maxConcurrency).`,
  next: 'It is sent as attempts of its shipper end, in turn with the other webhooks of the shipper, or when an operator lifts the limit.',
});

const rateOf = ({ dueAt, ahead }: DeliveryFacts, maxPerSecond: number): Wait => ({
  reason: 'RATE',
  until: null,
  why: `It has been due since ${dueAt ? at(dueAt) : 'an unknown time'}, and its webhook may be called ${maxPerSecond} ${maxPerSecond === 1 ? 'time' : 'times'} a second (maxPerSecond). ${countOf(ahead)} deliveries of its webhook have been due for longer.`,
  next: `It is sent in about ${Math.ceil(ahead / maxPerSecond)} s, or earlier if the shipper raises maxPerSecond.`,
});

const slowed = ({ dueAt, ahead }: DeliveryFacts): Wait => ({
  reason: 'RATE',
  until: null,
  why: `It has been due since ${dueAt ? at(dueAt) : 'an unknown time'}, and its webhook is called more slowly for now: its receiver was overloaded (429, 502, 503, 504, a time-out), or its host has not agreed to more (DESTINATION_RATE). ${countOf(ahead)} deliveries of its webhook have been due for longer.`,
  next: 'It is sent once those before it are. Successes make its webhook faster again.',
});

const parked = (): Wait => ({
  reason: 'PARKED',
  until: null,
  why: 'Its webhook is parked: so many deliveries are owed to it (PARKED_AFTER) that further ones get no rows.',
  next: 'When the webhook is called again, a worker makes rows of what it missed, page by page and in order.',
});

function settled(facts: DeliveryFacts, claim: Claim | null): { why: string; next: string } {
  if (claim)
    return {
      why: `Attempt ${claim.attempt} is under way${claim.isByHand ? ' by hand' : ''}; its lease is valid until ${at(claim.leaseUntil)}.`,
      next: 'Its worker records the outcome. If that worker dies, another one takes the delivery over when the lease expires.',
    };
  if (facts.place === 'NOWHERE')
    return {
      why: 'It is neither in the outbox nor in the log: its webhook was not owed this event, or the log has dropped it (LOG_RETENTION).',
      next: 'Nothing, unless the shipper replays the event.',
    };
  const how = facts.reason ? `${facts.status} (${facts.reason})` : facts.status;
  return {
    why: `It is finished: ${how} at ${at(facts.completedAt!)}, after ${facts.attemptCount} attempt${facts.attemptCount === 1 ? '' : 's'}.`,
    next:
      facts.status === 'SUCCEEDED'
        ? 'Nothing.'
        : facts.status === 'FAILED'
          ? 'Nothing, unless the shipper sends it again by hand or replays it.'
          : 'Nothing, unless the shipper replays it.',
  };
}

function byHand(facts: DeliveryFacts, requestedAt: Date, pace: Pace): { why: string; next: string } {
  const why = `An attempt by hand was requested at ${at(requestedAt)}.`;
  if (facts.isDeleted) return { why, next: 'The attempt by hand is not made: the webhook is deleted.' };
  if (facts.isSuspended) return { why, next: 'The attempt by hand is made when the shipper is resumed.' };
  if (facts.isHandStopped)
    return {
      why,
      next: 'The attempt by hand is made when the webhook is ACTIVE again: it was requested before the webhook was stopped.',
    };
  return {
    why,
    next: `A worker makes the attempt by hand; it looks for such requests every ${seconds(pace.sweepRestEveryMs)}.`,
  };
}
