import { useState } from 'preact/hooks';
import type { SessionList } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Confirm } from '../../parts/Dialog.js';
import { LoadError, Loading, TableHead } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { showToast } from '../../parts/Toast.js';
import { useRead } from '../../poll.js';
import { endSession, logOutEverywhere } from '../../session.js';

type Listed = SessionList['sessions'][number];

/** The user's own sessions, which end one by one or all at once. */
export function Sessions({ onEnded }: { onEnded: () => void }) {
  const [isAsked, setIsAsked] = useState(false);
  const { data, error, reload } = useRead<SessionList>('/v1/sessions');
  const end = async ({ sessionId, browser, isCurrent }: Listed) => {
    const path = `/v1/sessions/${sessionId}`;
    if (isCurrent) return endSession(path);
    await call('DELETE', path);
    await reload();
    showToast(`The session in ${browser} has ended.`);
    onEnded();
  };
  return (
    <section aria-labelledby="account-sessions">
      <div class="page-head">
        <div>
          <h2 id="account-sessions">Sessions</h2>
          <p class="lead">
            Where you are logged in. One that you do not know: end it, and change your password.
          </p>
        </div>
        <Button onClick={() => setIsAsked(true)}>Log out everywhere</Button>
      </div>
      {error && !data && <LoadError error={error} />}
      {!data && !error && <Loading rows={2} />}
      {data && (
        <div class="table-wrap">
          <table class="sessions">
            <TableHead columns={['Browser', 'Logged in', 'Last used']} hasActions />
            <tbody>
              {data.sessions.map((one) => (
                <Row key={one.sessionId} session={one} onEnd={() => end(one)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isAsked && (
        <Confirm
          title="Log out everywhere?"
          action="Log out everywhere"
          isDangerous
          onConfirm={logOutEverywhere}
          onClose={() => setIsAsked(false)}
        >
          <p>
            All your sessions in browsers, this one too, and all access tokens from <code>/v1/login</code> end
            within 10 seconds. Tokens of programs stay valid.
          </p>
        </Confirm>
      )}
    </section>
  );
}

const Row = ({ session, onEnd }: { session: Listed; onEnd: () => Promise<void> }) => {
  const { browser, startedAt, lastUsedAt, isCurrent } = session;
  return (
    <tr>
      <th scope="row" class="long">
        {browser}
        {isCurrent && <span class="soft"> (this one)</span>}
      </th>
      <td data-label="Logged in">
        <Time at={startedAt} />
      </td>
      <td data-label="Last used">{isCurrent ? 'now' : <Time at={lastUsedAt} />}</td>
      <td class="number">
        <Button class="small" onClick={onEnd} aria-label={`End ${isCurrent ? 'this session' : browser}`}>
          End
        </Button>
      </td>
    </tr>
  );
};
