import { useEffect, useState } from 'preact/hooks';
import { isApiError, outage } from '../api.js';
import { hasGreeting } from '../features.js';
import { Button } from '../parts/Button.js';
import { Dialog } from '../parts/Dialog.js';
import { Form, FormProblem, TextField, useIsSending } from '../parts/Form.js';
import { logIn, logOut, rememberedKey, session } from '../session.js';

/**
 * The greeting of a first start links to `/#key=…&email=…&password=…`: a fragment is never sent to a server. Where there
 * is no greeting, such a link is a stranger's, who wants somebody to work in the stranger's account.
 */
const given = new URLSearchParams(hasGreeting ? location.hash.slice(1) : '');
let prefill = {
  key: given.get('key') ?? '',
  email: given.get('email') ?? '',
  password: given.get('password') ?? '',
};

/** Clears it after a log-in: a user who logs out does not want to find it filled in. */
function forgetPrefill(): void {
  prefill = { key: '', email: '', password: '' };
}

const isAccount = () => location.hash.startsWith('#key=');

if (isAccount()) history.replaceState(null, '', location.pathname + location.search);
// The link, opened in a tab that shows the portal already.
addEventListener('hashchange', () => {
  if (isAccount()) location.reload();
});

export function LoginPage() {
  useEffect(() => {
    document.title = 'Log in · Parcelhook';
  }, []);
  return (
    <main id="main" class="login">
      <h1>Log in to Parcelhook</h1>
      {outage.value && <p class="banner">{outage.value.message}</p>}
      <LoginForm />
      <p class="soft">
        The operator of this service gives you an account. No account is needed to read{' '}
        <a href="/docs">the documentation</a>.
      </p>
    </main>
  );
}

/** Over the page, which stays as it is. A log-in in another tab closes it too. */
export function LoginDialog() {
  return (
    <Dialog title="Your session has ended">
      <p>Log in again to continue. The page is as you left it.</p>
      <LoginForm email={session.value!.user.email} />
      <p>
        <button type="button" class="link" onClick={() => void logOut().catch(() => location.assign('/'))}>
          Log in as someone else
        </button>
      </p>
    </Dialog>
  );
}

function LoginForm({ email: knownEmail = '' }: { email?: string }) {
  const [key, setKey] = useState(() => prefill.key || rememberedKey());
  const [email, setEmail] = useState(knownEmail || prefill.email);
  const [password, setPassword] = useState(prefill.password);
  const submit = () =>
    logIn({ key: key.trim(), email: email.trim(), password }).then(forgetPrefill, (error) => {
      throw inWords(error);
    });
  return (
    <Form onSubmit={submit}>
      <TextField
        label="Account key"
        name="key"
        value={key}
        onInput={setKey}
        required
        autocomplete="organization"
        spellcheck={false}
        autofocus={key === ''}
      />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        value={email}
        onInput={setEmail}
        required
        autocomplete="username"
        autofocus={key !== '' && email === ''}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        value={password}
        onInput={setPassword}
        required
        autocomplete="current-password"
        autofocus={key !== '' && email !== ''}
      />
      <FormProblem shown={['key', 'email', 'password']} />
      <LoginButton />
    </Form>
  );
}

const LoginButton = () => (
  <Button type="submit" kind="primary" isBusy={useIsSending()}>
    Log in
  </Button>
);

/** The service does not say which of the three is wrong, and neither does the page. */
function inWords(error: unknown): unknown {
  if (!isApiError(error)) return error;
  if (error.status === 401) error.message = 'Account key, e-mail or password is wrong.';
  if (error.status === 429)
    error.message = `Too many attempts. Try again ${error.retryAfterSeconds === null ? 'later' : `in ${waitOf(error.retryAfterSeconds)}`}.`;
  return error;
}

const waitOf = (seconds: number) => (seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`);
