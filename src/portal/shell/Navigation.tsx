import { signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { places } from '../places.js';
import { useWebhookList } from '../places/webhook-list.js';
import { hasProblem } from '../places/webhooks/summary.js';
import { Link, path } from '../router.js';

/** The width is that of shell.css: the places do not fit beside the brand. */
const narrow = matchMedia('(max-width: 64rem)');
const isMenu = signal(narrow.matches);
narrow.addEventListener('change', () => (isMenu.value = narrow.matches));

/** The brand, and every place that is listed: in a row or, where there is no room for it, in a menu. */
export function Navigation() {
  const list = useRef<HTMLElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const linkIn = (selector: string) => list.current!.querySelector<HTMLElement>(selector);
  const [, area] = path.value.split('/');
  return (
    <>
      {isMenu.value && (
        <button type="button" class="places-button" popovertarget="places" aria-expanded={isOpen}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M2 4h12M2 8h12M2 12h12" />
          </svg>
          <span class="unseen">Menu</span>
          <Problems />
        </button>
      )}
      <Link class="brand" href="/webhooks">
        Parcelhook
      </Link>
      <nav
        id="places"
        aria-label="Places"
        ref={list}
        popover={isMenu.value ? 'auto' : undefined}
        onToggle={({ newState }) => {
          setIsOpen(newState === 'open');
          if (newState === 'open') (linkIn('[aria-current]') ?? linkIn('a'))?.focus();
        }}
        onClick={() => isOpen && list.current!.hidePopover()}
      >
        {places
          .filter(({ isListed }) => isListed !== false)
          .map(({ pattern, label }) => {
            const href = pattern.replace(/\/:.*/, '');
            const current = href === `/${area}` ? 'page' : undefined;
            return (
              <Link key={href} href={href} aria-current={current}>
                {label}
                {href === '/webhooks' && <Problems />}
              </Link>
            );
          })}
      </nav>
    </>
  );
}

/** How many webhooks fail or are disabled; the list is read again when a place is opened after a while. */
function Problems() {
  const count = useWebhookList().filter(hasProblem).length;
  return count > 0 ? (
    <span class="count" title={`${count} with a problem`}>
      {count}
    </span>
  ) : null;
}
