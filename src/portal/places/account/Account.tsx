import { useEffect, useState } from 'preact/hooks';
import type { UserPage } from '../../../client/api/types.js';
import { readPages, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Copy } from '../../parts/Id.js';
import { Fact, LoadError, Loading, PageHead, StatusBadge, TableHead } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { loadSession, rememberedKey, session } from '../../session.js';
import { AuditLog } from './AuditLog.js';
import { PasswordDialog } from './PasswordDialog.js';
import { Sessions } from './Sessions.js';

type User = UserPage['users'][number];

const maxPages = 8;

/** The account, its users, the user's own password and sessions, and who changed what. */
export function Account() {
  const [isPasswordAsked, setIsPasswordAsked] = useState(false);
  const [changes, setChanges] = useState(0);
  const onChanged = () => setChanges((before) => before + 1);
  useEffect(() => void loadSession(), []); // the session may have been renewed
  const { data: users, error } = useResource(async (signal) => {
    const pathOf = (cursor: string | null) => withQuery('/v1/users', { limit: 250, cursor });
    return (await readPages<UserPage>(pathOf, maxPages, signal)).flatMap((page) => page.users);
  });
  const { shipper, user, readOnly, startedAt } = session.value!;
  return (
    <>
      <PageHead title="Account">See who has access to {shipper.name}, and what was changed in it.</PageHead>
      <div class="account-page">
        <div class="account-cards">
          <section class="panel" aria-labelledby="account-access">
            <h2 id="account-access">Access</h2>
            <dl class="facts">
              <Fact name="Account">{shipper.name}</Fact>
              {!readOnly && (
                <Fact name="Account key">
                  <AccountKey />
                </Fact>
              )}
              <Fact name="Programs">
                <Link href="/tokens">Tokens</Link>, which need no key and no password
              </Fact>
            </dl>
          </section>
          <section class="panel" aria-labelledby="account-session">
            <h2 id="account-session">{user?.email ?? 'This session'}</h2>
            <SessionFacts />
            {!readOnly && (
              <p class="actions">
                <Button onClick={() => setIsPasswordAsked(true)}>Change password</Button>
              </p>
            )}
          </section>
        </div>
        {!readOnly && <Sessions key={startedAt} onEnded={onChanged} />}
        <section aria-labelledby="account-users">
          <h2 id="account-users">Users</h2>
          <p class="lead">Your operator registers and removes them.</p>
          {error && !users && <LoadError error={error} />}
          {!users && !error && <Loading rows={2} />}
          {users && <Users users={users} />}
        </section>
        <AuditLog key={changes} users={users ?? []} />
      </div>
      {isPasswordAsked && <PasswordDialog onClose={() => setIsPasswordAsked(false)} onChanged={onChanged} />}
    </>
  );
}

/** The service stores a hash only; the browser has the key from the log-in. */
function AccountKey() {
  const key = rememberedKey();
  if (key === '') return <span class="soft">Your operator has it.</span>;
  return (
    <span class="id">
      <code>{key.replace(/^(ak_(?:[a-z]{2}_)?)?.*(.{4})$/, '$1••••$2')}</code>
      <Copy text={key} label="Copy the account key" />
    </span>
  );
}

function SessionFacts() {
  const { user, startedAt, expiresAt, lastsUntil } = session.value!;
  return (
    <dl class="facts">
      <Fact name={user ? 'Logged in' : 'Opened'}>
        <Time at={startedAt} />
      </Fact>
      {expiresAt === lastsUntil ? (
        <Fact name="Session ends">
          <Time at={expiresAt} />
        </Fact>
      ) : (
        <>
          <Fact name="Session ends">
            <Time at={expiresAt} /> if it is not used
          </Fact>
          <Fact name="At the latest">
            <Time at={lastsUntil} />
          </Fact>
        </>
      )}
    </dl>
  );
}

const Users = ({ users }: { users: User[] }) => (
  <div class="table-wrap">
    <table>
      <TableHead columns={['E-mail', 'Registered', 'Password']} />
      <tbody>
        {users.map(({ userId, email, createdAt, hasPassword }) => (
          <tr key={userId}>
            <th scope="row" class="long whole-row">
              {email}
              {userId === session.value!.user?.userId && <span class="soft"> (you)</span>}
            </th>
            <td data-label="Registered">
              <Time at={createdAt} />
            </td>
            <td>
              <StatusBadge status={hasPassword ? 'ACTIVE' : 'PENDING'}>
                {hasPassword ? 'Set' : 'Not set yet'}
              </StatusBadge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
