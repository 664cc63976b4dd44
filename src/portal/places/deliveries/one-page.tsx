import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** The width is that of log.css: there is no space beside the list. */
const narrow = matchMedia('(max-width: 64rem)');

export const isOnePage = signal(narrow.matches);
narrow.addEventListener('change', () => (isOnePage.value = narrow.matches));

/** The title of a part of the delivery, one level below that of the delivery. */
export function SectionTitle({ id, children }: { id: string; children: ComponentChildren }) {
  const Heading = isOnePage.value ? 'h2' : 'h3';
  return <Heading id={id}>{children}</Heading>;
}
