import { useEffect, useState } from 'preact/hooks';
import { call, outage } from '../api.js';
import { Dialog } from '../parts/Dialog.js';
import { Form, FormProblem, SubmitButton, TextField } from '../parts/Form.js';
import { hasEmail, hasGreeting, inWords, logIn, logOut, rememberedKey, session } from '../session.js';

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

/** The link is forgotten after a log-in: a user who logs out does not want to find it filled in. */
function forgetPrefill(): void {
  prefill = { key: '', email: '', password: '' };
}

const isAccount = () => location.hash.startsWith('#key=');

if (isAccount()) history.replaceState(null, '', location.pathname + location.search);
// The link may be opened in a tab that shows the portal already.
addEventListener('hashchange', () => {
  if (isAccount()) location.reload();
});

/** Its name has a digest, which the page knows. */
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href;

export function LoginPage() {
  const [hasForgotten, setHasForgotten] = useState(false);
  const title = hasForgotten ? 'Set a new password' : 'Log in to Parcelhook';
  useEffect(() => {
    document.title = `${hasForgotten ? title : 'Log in'} · Parcelhook`;
  }, [title]);
  return (
    <main id="main" class="login">
      <p class="mark">
        <img src={icon} alt="" />
        Parcelhook
      </p>
      <h1>{title}</h1>
      {outage.value && <p class="banner">{outage.value.message}</p>}
      {hasForgotten ? <ForgottenForm /> : <LoginForm />}
      {hasEmail && (
        <p>
          <button type="button" class="link" onClick={() => setHasForgotten(!hasForgotten)}>
            {hasForgotten ? 'Back to the log-in' : 'Forgotten your password?'}
          </button>
        </p>
      )}
      <p class="soft">
        The operator of this service gives you an account
        {!hasEmail && ', and a link if you forget your password'}. No account is needed to read{' '}
        <a href="/docs">the documentation</a>.
      </p>
    </main>
  );
}

/** The dialog is over the page, which stays as it is. A log-in in another tab closes it too. */
export function LoginDialog() {
  return (
    <Dialog title="Your session has ended">
      <p>
        {session.value!.readOnly
          ? 'To go on, make a new link, or log in as a user of the shipper.'
          : 'Log in again to continue. The page is as you left it.'}
      </p>
      <LoginForm email={session.value!.user?.email} />
      <p>
        <button type="button" class="link" onClick={() => void logOut().catch(() => location.assign('/'))}>
          Log in as someone else
        </button>
      </p>
    </Dialog>
  );
}

function LoginForm({ email: knownEmail = '' }: { email?: string | undefined }) {
  const [key, setKey] = useState(() => prefill.key || rememberedKey());
  const [email, setEmail] = useState(knownEmail || prefill.email);
  const [password, setPassword] = useState(prefill.password);
  const submit = () =>
    logIn({ key: key.trim(), email: email.trim(), password }).then(forgetPrefill, (error) => {
      throw inWords(error);
    });
  return (
    <Form onSubmit={submit}>
      <KeyField value={key} onInput={setKey} />
      <EmailField value={email} onInput={setEmail} autofocus={key !== '' && email === ''} />
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
      <SubmitButton>Log in</SubmitButton>
    </Form>
  );
}

interface KnownField {
  value: string;
  onInput: (value: string) => void;
}

const KeyField = ({ value, onInput }: KnownField) => (
  <TextField
    label="Account key"
    name="key"
    value={value}
    onInput={onInput}
    required
    autocomplete="organization"
    spellcheck={false}
    autofocus={value === ''}
    hint={
      <>
        ak_…, from your operator
        {hasGreeting && (
          <>
            ; if you started this service yourself, it is in <code>account.json</code> in{' '}
            <code>DATA_DIR</code> (by default <code>data</code>)
          </>
        )}
      </>
    }
  />
);

const EmailField = (props: KnownField & { autofocus: boolean }) => (
  <TextField label="E-mail" name="email" type="email" required autocomplete="username" {...props} />
);

/** The service does not say whether there is such a user, and neither does the page. */
function ForgottenForm() {
  const [key, setKey] = useState(rememberedKey);
  const [email, setEmail] = useState('');
  const [isAsked, setIsAsked] = useState(false);
  const submit = async () => {
    await call('POST', '/v1/password-link', { key: key.trim(), email: email.trim() }, { isLogin: true });
    setIsAsked(true);
  };
  return (
    <Form onSubmit={submit}>
      <KeyField value={key} onInput={setKey} />
      <EmailField value={email} onInput={setEmail} autofocus={key !== ''} />
      <FormProblem shown={['key', 'email']} />
      <SubmitButton>Send me a link</SubmitButton>
      <p role="status">
        {isAsked &&
          'If the account has a user with this address, a link is on its way. It is good for one use, within 24 hours.'}
      </p>
    </Form>
  );
}
