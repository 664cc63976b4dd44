import { useEffect, useRef } from 'preact/hooks';
import { outage, isExpired } from '../api.js';
import { Button } from '../parts/Button.js';
import { Empty, Loading } from '../parts/Page.js';
import { exact, now, Time } from '../parts/Time.js';
import { Toasts } from '../parts/Toast.js';
import { placeAt } from '../places.js';
import { Link, navigate, path } from '../router.js';
import { logOut, session } from '../session.js';
import { Keys, KeysButton } from './Keys.js';
import { LoginDialog, LoginPage } from './Login.js';
import { Navigation } from './Navigation.js';

/** The frame around every place, or the log-in page. */
export function Shell() {
  const hasShownLogin = useRef(false);
  if (session.value === null) hasShownLogin.current = true;
  if (session.value === undefined)
    return (
      <main id="main">
        <OutageBanner />
        {outage.value === null && <Loading />}
      </main>
    );
  return (
    <>
      {session.value === null ? <LoginPage /> : <Page takesFocus={hasShownLogin.current} />}
      {isExpired.value && session.value && <LoginDialog />}
      <Toasts />
    </>
  );
}

/** `takesFocus`: after a log-in, the focus goes into the page; on its first load it stays with the browser. */
function Page({ takesFocus }: { takesFocus: boolean }) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(!takesFocus);
  const found = placeAt(path.value);
  const pattern = found?.place.pattern;
  useEffect(() => {
    if (path.value === '/') navigate('/webhooks', { replace: true });
  }, [path.value]);
  useEffect(() => {
    document.title = `${found?.place.label ?? 'Not found'} · Parcelhook`;
    if (!isFirst.current) {
      scrollTo(0, 0);
      (main.current?.querySelector<HTMLElement>('h1') ?? main.current)?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [pattern]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Navigation />
        <div class="top-end">
          <KeysButton />
          <a href="/docs">Docs</a>
          <AccountMenu />
        </div>
      </header>
      <Keys />
      <SupportBanner />
      <OutageBanner />
      <main id="main" ref={main} tabIndex={-1}>
        {found ? (
          <found.place.Component key={pattern} {...found.values} />
        ) : (
          path.value !== '/' && <NotFound />
        )}
      </main>
    </>
  );
}

function AccountMenu() {
  const { user, shipper, supportOpenedAt } = session.value!;
  return (
    <>
      <button type="button" class="account" popovertarget="account-menu" title={user?.email}>
        <span>{shipper.name}</span>
      </button>
      <div id="account-menu" class="menu" popover="auto">
        <p>
          <strong>{shipper.name}</strong>
          <br />
          <span class="soft">{user?.email ?? 'opened by the operator'}</span>
        </p>
        {supportOpenedAt && (
          <p class="soft">
            The operator last opened this portal, read-only, <Time at={supportOpenedAt} />.
          </p>
        )}
        <Link
          class="button quiet"
          href="/account"
          onClick={({ currentTarget }) => currentTarget.closest<HTMLElement>('[popover]')!.hidePopover()}
        >
          Account
        </Link>
        <Button kind="quiet" onClick={logOut}>
          Log out
        </Button>
      </div>
    </>
  );
}

/** The operator sees it, who has opened the portal for support. */
const SupportBanner = () =>
  session.value?.readOnly ? (
    <section class="banner" aria-label="Support">
      <strong>Read-only, for support.</strong> You see the portal of {session.value.shipper.name} as its users
      do, until {exact(session.value.expiresAt)}. Nothing can be changed.
    </section>
  ) : null;

const NotFound = () => (
  <Empty title="There is no such page" isPage>
    <p>
      <Link href="/webhooks">Go to the webhooks</Link>
    </p>
  </Empty>
);

/** Reads wait; what is on the page may be old. Not urgent enough to interrupt a screen reader. */
function OutageBanner() {
  const current = outage.value;
  const seconds = current && Math.ceil((current.retriesAt - now.value) / 1_000);
  return (
    <div role="status">
      {current && (
        <p class="banner">
          <strong>{current.message}</strong> The page may be out of date.{' '}
          <span aria-hidden="true">{seconds! > 0 ? `Next try in ${seconds} s.` : 'Trying again…'}</span>
        </p>
      )}
    </div>
  );
}
