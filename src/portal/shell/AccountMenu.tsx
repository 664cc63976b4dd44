import { Button } from '../parts/Button.js';
import { logOut, session } from '../session.js';

export function AccountMenu() {
  const { user, shipper } = session.value!;
  return (
    <>
      <button type="button" class="account" popovertarget="account-menu" title={user.email}>
        <span>{shipper.name}</span>
      </button>
      <div id="account-menu" class="menu" popover="auto">
        <p>
          <strong>{shipper.name}</strong>
          <br />
          <span class="soft">{user.email}</span>
        </p>
        <Button kind="quiet" onClick={logOut}>
          Log out
        </Button>
      </div>
    </>
  );
}
