import { useRef, useState } from 'preact/hooks';
import { call, isApiError } from '../../api.js';
import { showToast } from '../../parts/Toast.js';
import type { Failure, Inbox } from './contents.js';

const choices: { fail: Failure | null; name: string; hint: string }[] = [
  { fail: null, name: 'Respond 200', hint: 'Deliveries succeed.' },
  { fail: '500', name: 'Respond 500', hint: 'Each delivery is retried, at growing intervals.' },
  { fail: 'TIMEOUT', name: 'Do not respond', hint: 'Each attempt ends with a timeout.' },
  {
    fail: '410',
    name: 'Respond 410',
    hint: '410 says that the address is gone for good, so the webhook is disabled.',
  },
  { fail: 'RESET', name: 'Reset the connection', hint: 'Each delivery is retried, as after a 500.' },
];

/** How the inbox responds from now on. A choice shows at once, and goes back if the service refuses it. */
export function Switch({ inbox, onChange }: { inbox: Inbox; onChange: () => Promise<unknown> }) {
  const [isOnce, setIsOnce] = useState(false);
  /** Chosen, and not known to be in effect yet. */
  const [wanted, setWanted] = useState<{ fail: Failure | null } | null>(null);
  const latest = useRef<typeof wanted>(null);
  const current = (wanted ?? inbox).fail;
  const change = async (fail: Failure | null, once: boolean) => {
    const mine = { fail };
    latest.current = mine;
    setWanted(mine);
    try {
      await call('PATCH', '/v1/inbox', { fail, ...(once && fail !== null && { times: 1 }) });
      await onChange();
    } catch (error) {
      if (!isApiError(error)) throw error;
      showToast(error.message, 'bad');
      void onChange();
    } finally {
      if (latest.current === mine) setWanted(null);
    }
  };
  const chosen = choices.find(({ fail }) => fail === current)!;
  return (
    <fieldset class="panel">
      <legend class="unseen">How it responds</legend>
      <h2 aria-hidden="true">How it responds</h2>
      <div class="responses">
        {choices.map(({ fail, name }) => (
          <label class="check" key={name}>
            <input
              type="radio"
              name="fail"
              checked={fail === current}
              onChange={() => void change(fail, isOnce)}
            />
            {name}
          </label>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={isOnce}
          onChange={({ currentTarget: { checked } }) => {
            setIsOnce(checked);
            if (current !== null) void change(current, checked);
          }}
        />
        Fail only once
      </label>
      <p class="hint" aria-live="polite">
        {chosen.hint}
      </p>
    </fieldset>
  );
}
