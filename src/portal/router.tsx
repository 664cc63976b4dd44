import { signal } from '@preact/signals';
import type { JSX } from 'preact';

/** Where the page is: `/deliveries/0190…`, and its filters. Read `.value` in a component to be drawn again. */
export const path = signal(location.pathname);
export const query = signal(new URLSearchParams(location.search));

export function navigate(address: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  readLocation();
}

/**
 * Changes filters in the address and keeps the rest; null or empty removes one. It adds no entry to the history, unless
 * `push`: Back should leave the list, not undo each letter of a filter.
 */
export function setQuery(changes: Record<string, string | null | undefined>, { push = false } = {}): void {
  const changed = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) changed.set(name, value);
    else changed.delete(name);
  }
  const text = changed.toString();
  navigate(text ? `${path.value}?${text}` : path.value, { replace: !push });
}

/** For a row with a link: a click anywhere in the row opens it, unless text is being selected. */
export const opens = (href: string) => (event: MouseEvent) => {
  const isOnLink = (event.target as Element).closest('a, button, label');
  if (!isOnLink && !getSelection()?.toString()) navigate(href);
};

/** A link within the portal; anything but a plain click is the browser's. */
export function Link({ href, onClick, ...attributes }: JSX.IntrinsicElements['a'] & { href: string }) {
  return (
    <a
      {...attributes}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        const isPlain =
          event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (!isPlain || event.defaultPrevented) return;
        event.preventDefault();
        navigate(href);
      }}
    />
  );
}

function readLocation(): void {
  path.value = location.pathname;
  query.value = new URLSearchParams(location.search);
}

addEventListener('popstate', readLocation);
