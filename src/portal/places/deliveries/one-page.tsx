import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** As in log.css: there is no room beside the list. */
const narrow = matchMedia('(max-width: 64rem)');

export const isOnePage = signal(narrow.matches);
narrow.addEventListener('change', () => (isOnePage.value = narrow.matches));

export function SectionTitle({ id, children }: { id: string; children: ComponentChildren }) {
  const Heading = isOnePage.value ? 'h2' : 'h3';
  return <Heading id={id}>{children}</Heading>;
}
