import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditPage, TokenPage, UserPage } from '../../../client/api/types.js';
import { read, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { LoadError, Loading, StatusBadge, TableHead } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { useRead } from '../../poll.js';
import { Link } from '../../router.js';
import { session } from '../../session.js';
import { wordOf } from '../../words.js';
import { useWebhookList, webhookName } from '../webhook-list.js';

type Entry = AuditPage['entries'][number];
type User = UserPage['users'][number];

const pageOf = (cursor: string | null) => withQuery('/v1/audit', { limit: 25, cursor });

/** The list of changes, page by page, the newest first. */
export function AuditLog({ users }: { users: User[] }) {
  const [older, setOlder] = useState<AuditPage[]>([]);
  const { data: newest, error } = useRead<AuditPage>(pageOf(null));
  const names = useNames(users);
  const pages = newest ? [newest, ...older] : [];
  const cursor = pages.at(-1)?.nextCursor;
  const loadOlder = async () => setOlder([...older, await read<AuditPage>(pageOf(cursor!))]);
  return (
    <section aria-labelledby="account-audit">
      <h2 id="account-audit">Audit log</h2>
      <p class="lead">What was changed in this account, and who did it.</p>
      {error && !newest && <LoadError error={error} />}
      {!newest && !error && <Loading />}
      {newest && (
        <>
          <div class="table-wrap">
            <table class="audit">
              <TableHead columns={['What', 'When', 'Who', 'From']} />
              <tbody>
                {pages
                  .flatMap(({ entries }) => entries)
                  .map((entry) => (
                    <Row key={entry.auditId} entry={entry} names={names} />
                  ))}
              </tbody>
            </table>
          </div>
          {cursor && (
            <p class="more">
              <Button onClick={loadOlder}>Load older</Button>
            </p>
          )}
        </>
      )}
    </section>
  );
}

type Names = ReturnType<typeof useNames>;

/** The names that the page shows for the ids of an entry. */
function useNames(users: User[]) {
  const webhooks = useWebhookList();
  const { data } = useRead<TokenPage>('/v1/tokens?limit=250');
  return {
    user: (id: string) =>
      id === session.value!.user?.userId
        ? 'you'
        : (users.find(({ userId }) => userId === id)?.email ?? 'a user who was removed'),
    token: (id: string) => {
      const token = data?.tokens.find(({ tokenId }) => tokenId === id);
      return token ? `the token ${token.name}` : 'a token that was revoked';
    },
    webhook: (webhookId: string): ComponentChildren =>
      webhooks.some((webhook) => webhook.webhookId === webhookId) ? (
        <Link href={`/webhooks/${webhookId}`}>{webhookName(webhooks, { webhookId, targetAddress: '' })}</Link>
      ) : (
        'a webhook that was deleted'
      ),
  };
}

const Row = ({ entry, names }: { entry: Entry; names: Names }) => (
  <tr>
    <th scope="row" class="long">
      {textOf(entry)} {entry.outcome === 'REFUSED' && <StatusBadge status="FAILED">Refused</StatusBadge>}
      <About entry={entry} names={names} />
    </th>
    <td>
      <Time at={entry.at} />
    </td>
    <td class="long" data-label="By">
      {actorOf(entry.actor, names)}
    </td>
    <td class="long" data-label="From">
      {entry.actor.address ?? <span class="soft">–</span>}
    </td>
  </tr>
);

const texts: Partial<Record<Entry['action'], string>> = {
  LOGIN_REFUSED: 'Wrong password',
  USER_SIGNED_OUT: 'Logged out everywhere',
  SUPPORT_LINK_CREATED: 'Link for support created',
  SUPPORT_LINK_OPENED: 'Portal opened for support, read-only',
  SHIPPER_LIMITED: 'Limits of the account changed',
};

const textOf = ({ action }: Entry) => texts[action] ?? wordOf(action.replace('SHIPPER', 'ACCOUNT'));

/** The things that the entry is about, the fields that changed, and how often. */
function About({ entry, names }: { entry: Entry; names: Names }) {
  const { actor, userId, webhookId, tokenId, fields, count } = entry;
  const parts = [
    ...(userId !== null && userId !== actor.name ? [names.user(userId)] : []),
    ...(tokenId !== null && tokenId !== actor.name ? [names.token(tokenId)] : []),
    ...(webhookId === null ? [] : [names.webhook(webhookId)]),
    ...(fields.length > 0 ? [fields.join(', ')] : []),
    ...(count > 1 ? [`${count} times`] : []),
  ];
  if (parts.length === 0) return null;
  return (
    <small class="soft">
      {parts.map((part, place) => (
        <span key={place}>
          {place > 0 && ' · '}
          {part}
        </span>
      ))}
    </small>
  );
}

function actorOf({ kind, name }: Entry['actor'], names: Names): string {
  if (kind === 'USER' && name) return names.user(name);
  if (kind === 'TOKEN' && name) return names.token(name);
  if (kind === 'OPERATOR') return 'the operator';
  return kind === 'SERVICE' ? 'the service' : 'somebody who was not logged in';
}
