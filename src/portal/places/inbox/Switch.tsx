import { useState } from 'preact/hooks';
import { call, isApiError } from '../../api.js';
import { showToast } from '../../parts/Toast.js';
import type { Failure, Inbox } from './contents.js';

const choices: { fail: Failure | null; name: string; hint: string }[] = [
  { fail: null, name: 'Answer 200', hint: 'Deliveries succeed.' },
  { fail: '500', name: 'Answer 500', hint: 'Each delivery is tried again, at growing intervals.' },
  { fail: 'TIMEOUT', name: 'Do not answer', hint: 'Each attempt ends with a timeout.' },
  {
    fail: '410',
    name: 'Answer 410',
    hint: '410 says that the address is gone for good, so the webhook is disabled.',
  },
  { fail: 'RESET', name: 'Reset the connection', hint: 'Each delivery is tried again, as after a 500.' },
];

/** How the inbox answers from now on. It takes effect at once. */
export function Switch({ inbox, onChange }: { inbox: Inbox; onChange: () => Promise<unknown> }) {
  const [isOnce, setIsOnce] = useState(false);
  const change = async (fail: Failure | null, once: boolean) => {
    try {
      await call('PATCH', '/v1/inbox', { fail, ...(once && fail !== null && { times: 1 }) });
    } catch (error) {
      if (!isApiError(error)) throw error;
      showToast(error.message, 'bad');
    }
    await onChange();
  };
  const chosen = choices.find(({ fail }) => fail === inbox.fail)!;
  return (
    <fieldset class="panel">
      <legend class="unseen">How it answers</legend>
      <h2 aria-hidden="true">How it answers</h2>
      <div class="answers">
        {choices.map(({ fail, name }) => (
          <label class="check" key={name}>
            <input
              type="radio"
              name="fail"
              checked={fail === inbox.fail}
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
            if (inbox.fail !== null) void change(inbox.fail, checked);
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
