import type { ListedWebhook, Webhook } from '../../../client/api/types.js';
import { probeFromNow } from '../../in-short.js';
import { wordOf } from '../../words.js';
import { durationText, hourMs } from '../../units.js';

type Health = NonNullable<ListedWebhook['health']>;
type Hour = NonNullable<ListedWebhook['stats']>['hours'][number];

type Named = Pick<Webhook, 'name' | 'description' | 'targetAddress'>;

/** The name that people know it by: its own, else its description, else its address without the scheme. */
export const nameOf = ({ name, description, targetAddress }: Named): string =>
  ownNameOf({ name, description }) || targetAddress.replace(/^https?:\/\//, '').replace(/\/$/, '');

/** Empty if only its address names it. */
export const ownNameOf = ({ name, description }: Pick<Named, 'name' | 'description'>): string =>
  name ?? description;

/** The name where there is little space: an address is cut in the middle, as its ends tell it from others. */
export function shortNameOf(webhook: Named): string {
  const name = nameOf(webhook);
  const isCut = !ownNameOf(webhook) && name.length > 40;
  return isCut ? `${name.slice(0, 18)}…${name.slice(-21)}` : name;
}

/** "All states", "Delivered", "3 states"; with notices of other webhooks if it wants them. */
export function interestsInWords(interests: string[], notices: readonly string[]): string {
  const states = interests.filter((name) => !notices.includes(name));
  const [first = ''] = states;
  const inWords = states.length > 1 ? `${states.length} states` : wordOf(first);
  const parts = [
    states.includes('*') ? 'All states' : inWords,
    states.length < interests.length && 'notices',
  ];
  return parts.filter(Boolean).join(', ');
}

/** "1 unknown state"; empty if there is none. */
export const unknownInWords = ({
  unknownInterests: { length },
}: Pick<Webhook, 'unknownInterests'>): string =>
  length === 0 ? '' : `${length} unknown ${length === 1 ? 'state' : 'states'}`;

/** Why nothing is sent, or when the next attempt is; empty if all is well. `now` in ms. */
export function trouble(
  { status, disabledReason, pausedBy }: Webhook,
  health: Health | undefined,
  now: number,
): string {
  if (pausedBy === 'OPERATOR') return 'Paused by the operator';
  if (status === 'DISABLED') return disabledReason ? disabledReasons[disabledReason] : '';
  if (status === 'PAUSED' || health?.circuit !== 'OPEN') return '';
  return health.nextProbeAt ? `Next probe ${probeFromNow(health.nextProbeAt, now)}` : 'A probe is under way';
}

const disabledReasons = {
  GONE: 'It responded 410 Gone',
  REFUSED: 'It asked to be disabled',
  FAILING: 'No success for 5 days',
};

/** The status to show: an open circuit stops an active webhook; one whose last attempt failed is not well. */
export function statusOf(
  { status }: Pick<Webhook, 'status'>,
  health: Pick<Health, 'circuit' | 'failedSince'> | undefined,
): string {
  if (status !== 'ACTIVE' || !health) return status;
  if (health.circuit === 'OPEN') return 'OPEN';
  return health.failedSince === null ? status : 'FAILING';
}

/** A webhook whose circuit is open fails, too; one that fails or is disabled needs its owner. */
const alsoShown: Record<string, string[]> = { FAILING: ['OPEN'], PROBLEM: ['OPEN', 'FAILING', 'DISABLED'] };

/** Whether it is shown in the list of those with this status. */
export const isShownAs = (status: string, shown: string): boolean =>
  status === shown || alsoShown[shown]?.includes(status) === true;

export const hasProblem = (webhook: Pick<ListedWebhook, 'status' | 'health'>): boolean =>
  isShownAs(statusOf(webhook, webhook.health), 'PROBLEM');

export const problemsFirst = <Listed extends Pick<ListedWebhook, 'status' | 'health'>>(
  webhooks: readonly Listed[],
): Listed[] => webhooks.toSorted((a, b) => Number(hasProblem(b)) - Number(hasProblem(a)));

/** Attempts of some hours together; `share` is null without any. */
export function totalOf(hours: readonly Hour[]) {
  const attempts = hours.reduce((sum, hour) => sum + hour.attempts, 0);
  const succeeded = hours.reduce((sum, hour) => sum + hour.succeeded, 0);
  return {
    attempts,
    succeeded,
    failed: attempts - succeeded,
    share: attempts === 0 ? null : succeeded / attempts,
  };
}

/** The filter of the log for the deliveries whose attempts these hours count. `hours` has at least one. */
export const attemptedIn = (hours: readonly Hour[]) => ({
  attemptedFrom: new Date(hours[0]!.hour).toISOString(),
  attemptedTo: new Date(Date.parse(hours.at(-1)!.hour) + hourMs).toISOString(),
});

/** 0.9987 is "99.8 %": rounded down, so that "100 %" means all. */
export const percent = (share: number): string => {
  const value = Math.floor(share * 1_000) / 10;
  return `${value === 100 || value < 10 ? value : value.toFixed(1)} %`;
};

export const count = (number: number): string => number.toLocaleString('en');

/** Waiting deliveries are counted up to 10,000. */
export const waiting = (pendingCount: number): string =>
  pendingCount >= 10_000 ? '10,000 or more' : count(pendingCount);

export function attemptsInWords(hours: readonly Hour[]): string {
  const { attempts, failed } = totalOf(hours);
  if (attempts === 0) return 'No attempts in the last 24 hours';
  return `${count(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'} in the last 24 hours, ${count(failed)} failed`;
}

/** How long attempts took, also in the slowest hour; empty without durations. */
export function paceInWords(hours: readonly Hour[]): string {
  const slowest = (values: (number | null)[]) => durationText(Math.max(...values.map((ms) => ms ?? 0)));
  if (hours.every(({ p95Ms }) => p95Ms === null)) return '';
  const half = slowest(hours.map(({ p50Ms }) => p50Ms));
  const most = slowest(hours.map(({ p95Ms }) => p95Ms));
  return `Half of the attempts took at most ${half}, and 95 % at most ${most}, in every hour.`;
}

/** The webhook's trouble in full, with what its owner can do; empty if all is well. `now` in ms. */
export function advice(webhook: Webhook & { health: Health }, now: number): string {
  const { health, status, pausedBy } = webhook;
  const why = trouble(webhook, health, now);
  if (pausedBy === 'OPERATOR')
    return `${why}, who alone can resume it. What it misses is held, and sent then.`;
  if (status === 'PAUSED') return 'Nothing is sent. What it misses is held until you resume it.';
  if (status === 'DISABLED')
    return `${why ? `${why}, so nothing is sent.` : 'Nothing is sent.'} Correct the address or the server, then resume.`;
  return why && `${why}. If your server works again, send a test: a success sends what is held.`;
}
