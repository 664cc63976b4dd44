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

type Asks = (leave: () => void) => boolean;
const asking = new Set<Asks>();

/** `asks` is called before a link or Back leaves the page. If it returns true, the page stays until it calls `leave`. */
export function whenLeft(asks: Asks): () => void {
  asking.add(asks);
  return () => asking.delete(asks);
}

const stays = (leave: () => void) => [...asking].some((asks) => asks(leave));

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
        if (!stays(() => navigate(href))) navigate(href);
      }}
    />
  );
}

function readLocation(): void {
  path.value = location.pathname;
  query.value = new URLSearchParams(location.search);
}

addEventListener('popstate', () => {
  const shown = query.value.size > 0 ? `${path.value}?${query.value.toString()}` : path.value;
  const isLeft = location.pathname !== path.value;
  if (isLeft && stays(() => history.back())) history.pushState(null, '', shown);
  else readLocation();
});
