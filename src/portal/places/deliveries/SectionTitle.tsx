import type { ComponentChildren } from 'preact';
import { isOnePage } from './one-page.js';

/** Of a part of the delivery, one level below its title. */
export function SectionTitle({ id, children }: { id: string; children: ComponentChildren }) {
  const Heading = isOnePage.value ? 'h2' : 'h3';
  return <Heading id={id}>{children}</Heading>;
}
