import { useState } from 'preact/hooks';
import type { CreatedToken, ListedWebhook, ProgramToken, TokenPage } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Confirm } from '../../parts/Dialog.js';
import { Empty, LoadError, Loading, PageHead, StatusBadge, TableHead } from '../../parts/Page.js';
import { now, Time } from '../../parts/Time.js';
import { showToast } from '../../parts/Toast.js';
import { useRead } from '../../poll.js';
import { useWebhookList, webhookName } from '../webhook-list.js';
import { SecretDialog } from '../webhooks/Secret.js';
import { TokenForm } from './TokenForm.js';

/** More than a shipper may have. */
const address = '/v1/tokens?limit=250';

/** The keys of the shipper's programs: what each may do, when it was used last; make one, revoke one. */
export function Tokens() {
  const webhooks = useWebhookList();
  const [dialog, setDialog] = useState<
    'create' | { created: CreatedToken } | { revoke: ProgramToken } | null
  >(null);
  const { data, error, reload } = useRead<TokenPage>(address, 30_000);
  if (error && !data) return <LoadError error={error} isPage />;
  const close = () => setDialog(null);
  const revoke = async ({ tokenId, name }: ProgramToken) => {
    await call('DELETE', `/v1/tokens/${tokenId}`);
    await reload();
    showToast(`${name} was revoked.`);
  };
  return (
    <>
      <PageHead
        title="Tokens"
        actions={
          data && (
            <Button kind="primary" onClick={() => setDialog('create')}>
              New token
            </Button>
          )
        }
      >
        With a token a program needs no account key, e-mail or password. It outlives the user who made it.
      </PageHead>
      {!data && <Loading />}
      {data?.tokens.length === 0 && (
        <Empty title="There is no token yet">
          <p>Give each program one of its own: then it can be revoked alone, and its last use is seen.</p>
        </Empty>
      )}
      {data && data.tokens.length > 0 && (
        <div class="table-wrap">
          <table class="tokens">
            <TableHead columns={['Token', 'May', 'Last use', 'Expires', 'Created']} hasActions />
            <tbody>
              {data.tokens.map((token) => (
                <Row
                  key={token.tokenId}
                  token={token}
                  webhooks={webhooks}
                  onRevoke={() => setDialog({ revoke: token })}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {dialog === 'create' && (
        <TokenForm
          webhooks={webhooks}
          onClose={close}
          onCreated={async (created) => {
            setDialog({ created });
            await reload();
          }}
        />
      )}
      {dialog && typeof dialog === 'object' && 'created' in dialog && (
        <SecretDialog
          title="Token created"
          secret={dialog.created.token}
          what="token"
          intro={`This is the token of ${dialog.created.name}.`}
          reader="program"
          onClose={close}
        >
          <p class="soft">
            The program sends it as <code>Authorization: Bearer &lt;token&gt;</code>; the client packages take
            it as <code>token</code>.
          </p>
        </SecretDialog>
      )}
      {dialog && typeof dialog === 'object' && 'revoke' in dialog && (
        <Confirm
          title="Revoke this token?"
          action="Revoke token"
          isDangerous
          onConfirm={() => revoke(dialog.revoke)}
          onClose={close}
        >
          <p class="long">
            Programs that use {dialog.revoke.name} will be refused within 10 seconds. This cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

const scopeNames: Record<ProgramToken['scopes'][number], string> = {
  orders: 'Place orders',
  webhooks: 'Manage webhooks',
  read: 'Read everything',
};

interface RowProps {
  token: ProgramToken;
  webhooks: ListedWebhook[];
  onRevoke: () => void;
}

function Row({ token, webhooks, onRevoke }: RowProps) {
  const { name, scopes, webhookId, lastUsedOn, expiresAt, createdAt } = token;
  const hasExpired = expiresAt !== null && Date.parse(expiresAt) <= now.value;
  return (
    <tr>
      <th scope="row" class="long whole-row">
        {name}
        {webhookId && (
          <small class="soft">
            Only {webhookName(webhooks, { webhookId, targetAddress: 'a webhook that is deleted' })}
          </small>
        )}
      </th>
      <td class="whole-row">{scopes.map((scope) => scopeNames[scope]).join(' · ')}</td>
      <td data-label="Last use">{lastUsedOn ? <Day day={lastUsedOn} /> : <span class="soft">never</span>}</td>
      <td data-label="Expires">
        {hasExpired ? (
          <StatusBadge status="CANCELLED">Expired</StatusBadge>
        ) : expiresAt ? (
          <Time at={expiresAt} />
        ) : (
          <span class="soft">never</span>
        )}
      </td>
      <td data-label="Created">
        <Time at={createdAt} />
      </td>
      <td class="number">
        <Button class="small" onClick={onRevoke} aria-label={`Revoke ${name}`}>
          Revoke
        </Button>
      </td>
    </tr>
  );
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** A day by UTC: `2026-11-21`. */
const Day = ({ day }: { day: string }) => (
  <time dateTime={day} title="By UTC">
    {dayFormat.format(new Date(day))}
  </time>
);
