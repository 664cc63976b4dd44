import type { ComponentChildren } from 'preact';
import { wordOf, words } from '../words.js';

/** Colour and word, always both. `children` replaces the word: `<StatusBadge status="FAILED">410 Gone</StatusBadge>`. */
export function StatusBadge({ status, children }: { status: string; children?: ComponentChildren }) {
  return <span class={`badge ${words[status]?.[0] ?? 'idle'}`}>{children ?? wordOf(status)}</span>;
}
