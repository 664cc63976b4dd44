import { hasGreeting } from './features.js';

/**
 * The greeting of a first start links to `/#key=…&email=…&password=…`: a fragment is never sent to a server. Where there
 * is no greeting, such a link is a stranger's, who wants somebody to work in the stranger's account.
 */
const given = new URLSearchParams(hasGreeting ? location.hash.slice(1) : '');
export let prefill = {
  key: given.get('key') ?? '',
  email: given.get('email') ?? '',
  password: given.get('password') ?? '',
};

/** After a log-in: who logs out does not want to find it filled in. */
export function forgetPrefill(): void {
  prefill = { key: '', email: '', password: '' };
}

const isAccount = () => location.hash.startsWith('#key=');

if (isAccount()) history.replaceState(null, '', location.pathname + location.search);
// The link, opened in a tab that shows the portal already.
addEventListener('hashchange', () => {
  if (isAccount()) location.reload();
});
