import { shipmentsOwedTo } from '../../engine/engine.js';
import type { ComposeMail, MailContent } from '../../mail/send.js';
import type { Database } from '../../platform/database/postgres.js';
import { mayBeMailed } from './addresses.js';
import type { Facts, Summary } from './owed.js';

const maxShipments = 10;

/** Null: the webhook is deleted, or its address may get no mails any more. */
export const composeNotice =
  (publicUrl: string): ComposeMail =>
  async (db, { webhookId, parameters }) => {
    const facts = parameters as unknown as Facts;
    const [webhook] = await db.query<{ email: string; account: string }>(
      'find-notify-email',
      `select w.notify_email as email, s.name as account from webhooks w join shippers s using (shipper_id)
        where w.webhook_id = $1 and w.deleted_at is null and s.status <> 'REMOVED'
          and ${mayBeMailed('w.shipper_id', 'w.notify_email')}`,
      [webhookId],
    );
    if (!webhook) return null;
    const trackingIds =
      facts.exhausted?.trackingIds ??
      (facts.state === 'WEBHOOK_RECOVERED' ? [] : await findWaiting(db, webhookId!));
    const shipments = await withOwnNumbers(db, trackingIds);
    const { subject, paragraphs } = contentOf(facts, webhook.account, shipments);
    return {
      to: webhook.email,
      subject: `${subject}: ${nameOf(facts)}`,
      paragraphs,
      action: toRecover.includes(facts.state)
        ? { label: 'Open Recover in the portal', url: `${publicUrl}/recover?webhookId=${webhookId}` }
        : { label: 'Open the webhook in the portal', url: `${publicUrl}/webhooks/${webhookId}` },
      remarks: [why],
    };
  };

const toRecover: Facts['state'][] = ['WEBHOOK_RECOVERED', 'DELIVERY_EXHAUSTED'];

const why =
  'You get this mail because the webhook names this address in notifyEmail. The portal changes that.';

/** Shipments of which states wait for the webhook. */
async function findWaiting(db: Database, webhookId: string): Promise<string[]> {
  const rows = await db.query<{ trackingId: string }>(
    'find-waiting-shipments',
    `select s.tracking_id as "trackingId"
       from (${shipmentsOwedTo('$1', maxShipments)}) o
      cross join lateral (select tracking_id from shipments where shipment_id = o.shipment_id limit 1) s
      order by 1`,
    [webhookId],
  );
  return rows.map(({ trackingId }) => trackingId);
}

/** This form is too narrow for a sentence, for a name beside a number, and for what mail programs take for a phone number. */
const ownNumber =
  /^(?=.{1,24}$)(?=.*\d)(?![\d_#/-]{9,}$)(?!.*[A-Za-z]{3}.*[^A-Za-z].*[A-Za-z]{3})[A-Za-z0-9]+([_#/-][A-Za-z0-9]+){0,2}$/;

/** Adds the shop's own number to each tracking id, but only if it looks like a number: an order may carry any text there. */
async function withOwnNumbers(db: Database, trackingIds: string[]): Promise<string[]> {
  const rows = await db.query<{ trackingId: string; own: string }>(
    'find-own-numbers',
    `select tracking_id as "trackingId", shipper_tracking_id as own from shipments
      where tracking_id = any($1::text[])`,
    [trackingIds],
  );
  const owns = new Map(rows.map(({ trackingId, own }) => [trackingId, own]));
  return trackingIds.map((trackingId) => {
    const own = owns.get(trackingId) ?? '';
    return ownNumber.test(own) ? `${trackingId} (${own})` : trackingId;
  });
}

const nameOf = ({ name, address }: Pick<Facts, 'name' | 'address'>) => name ?? new URL(address).host;

const momentOf = (time: string) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const shipmentsText = (text: string, shipments: string[], count = shipments.length): string[] => {
  if (shipments.length === 0) return [];
  const more = count > shipments.length || shipments.length === maxShipments ? ', and perhaps more' : '';
  return [`${text}: ${shipments.join(', ')}${more}.`];
};

const failures: Record<string, string> = {
  TIMEOUT: 'the server did not respond in time',
  DNS: 'the host name led to no address that can be called',
  CONNECT: 'the server refused the connection, or could not be reached',
  RESET: 'the server closed the connection too early',
  TLS: 'no secure connection could be made (TLS)',
  ADDRESS_DENIED: 'the target address must not be called',
  PROTOCOL: 'the server did not respond with valid HTTP',
};

const lastResponse = (failure: string | null): string[] => {
  if (failure === null) return [];
  return [
    /^\d+$/.test(failure)
      ? `Its last response that failed had the status ${failure}.`
      : `When an attempt last failed, ${failures[failure] ?? `there was no response (${failure})`}.`,
  ];
};

const mend = 'See to it that the server at this address responds with a status of 2xx within 15 seconds.';
const sentThen =
  'What is held is then sent, in order. Those that failed before wait for their next attempt; “Recover” in the portal sends them at once.';

/** Apart from `shipments`, the mail has no text from a receiver or an order: a stranger may have written that. */
function contentOf(
  facts: Facts,
  account: string,
  shipments: string[],
): Pick<MailContent, 'subject' | 'paragraphs'> {
  const { state, reason, since, disablesAt, lastFailure, exhausted, at } = facts;
  const webhook = `The webhook ${facts.name === null ? '' : `${facts.name} `}(${facts.address}) of the Parcelhook account ${account}`;
  const sinceThen = since === null ? '' : ` since ${momentOf(since)}`;
  const disabling =
    disablesAt === null
      ? []
      : [`If nothing succeeds, it is disabled on ${momentOf(disablesAt)} at the earliest.`];
  const waiting = shipmentsText('States of these shipments are waiting for it', shipments);
  switch (state) {
    case 'WEBHOOK_FAILING':
      return {
        subject: 'Webhook failing',
        paragraphs: [
          `${webhook} has been failing${sinceThen}: ${reason === 'CIRCUIT_OPEN' ? 'almost every attempt of a minute failed' : 'nothing succeeded for an hour'}.`,
          ...lastResponse(lastFailure),
          ...waiting,
          `${mend} ${sentThen}`,
          ...disabling,
        ],
      };
    case 'WEBHOOK_RECOVERED':
      return {
        subject: 'Webhook recovered',
        paragraphs: [
          `${webhook} succeeded again on ${momentOf(at)}.${since === null ? '' : ` It had been failing${sinceThen}.`}`,
          ...lastResponse(lastFailure),
          'What was held for it is being sent, in order. Those that failed before wait for their next attempt; Recover sends them now.',
        ],
      };
    case 'WEBHOOK_DISABLING':
      return {
        subject: 'Webhook about to be disabled',
        paragraphs: [
          `${webhook} has been failing${sinceThen}.`,
          ...disabling,
          ...lastResponse(lastFailure),
          ...waiting,
          `${mend} ${sentThen}`,
        ],
      };
    case 'WEBHOOK_DISABLED':
      return {
        subject: 'Webhook disabled',
        paragraphs: [
          `${webhook} was disabled on ${momentOf(at)}: ${disabledBecause(reason, sinceThen)}.`,
          ...lastResponse(lastFailure),
          ...waiting,
          `${mend} Then resume the webhook in the portal: what it missed is sent, in order.`,
        ],
      };
    case 'DELIVERY_EXHAUSTED':
      return {
        subject: 'Notifications given up',
        paragraphs: [
          `${exhausted!.count === 1 ? 'A notification' : `${exhausted!.count} notifications`} to this webhook failed in every retry, and ${exhausted!.count === 1 ? 'is' : 'are'} not tried again. ${webhook} misses them.`,
          ...shipmentsText('They belong to these shipments', shipments, exhausted!.count),
          ...lastResponse(lastFailure),
          `${mend} Then send them again in the portal, with “Recover”.`,
        ],
      };
  }
}

const disabledBecause = (reason: string | null, sinceThen: string): string => {
  if (reason === 'GONE') return 'it responded with the status 410 (Gone)';
  if (reason === 'REFUSED') return 'it asked for that in a response (webhook-delivery: disable)';
  return `nothing has succeeded${sinceThen}`;
};

const inWords: Record<Facts['state'], string> = {
  WEBHOOK_FAILING: 'is failing',
  WEBHOOK_RECOVERED: 'has recovered',
  WEBHOOK_DISABLING: 'will soon be disabled',
  WEBHOOK_DISABLED: 'was disabled',
  DELIVERY_EXHAUSTED: 'has used up the retries of notifications',
};

export const composeSummary =
  (publicUrl: string): ComposeMail =>
  async (db, { shipperId, parameters }) => {
    const { email, count, notices } = parameters as unknown as Summary;
    const [shipper] = await db.query<{ account: string }>(
      'find-summary-account',
      `select name as account from shippers s
        where shipper_id = $1 and status <> 'REMOVED' and ${mayBeMailed('s.shipper_id', '$2::text')}`,
      [shipperId, email],
    );
    if (!shipper) return null;
    const lines = notices.map(
      ({ state, name, address }) => `${name === null ? '' : `${name}: `}${address} ${inWords[state]}`,
    );
    return {
      to: email,
      subject: `${count} events of your webhooks`,
      paragraphs: [
        `More happened to webhooks of the Parcelhook account ${shipper.account} than is sent in mails of their own:`,
        ...lines,
        ...(count > lines.length ? [`And ${count - lines.length} more.`] : []),
      ],
      action: { label: 'Open the webhooks in the portal', url: `${publicUrl}/webhooks` },
      remarks: [why],
    };
  };
