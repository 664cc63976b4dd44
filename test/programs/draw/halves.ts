import type { Answered } from './boards/ask.js';
import { figuresOf } from './boards/sheet-of.js';
import { css } from './boards/colors.js';
import type { Panel } from './boards/board.js';

/** The guilty half: the service and what it runs on, or receivers. */
export type Half = 'ours' | 'theirs';
export type Red = 'none' | 'both' | Half;

const ofReceivers =
  /parcelhook_(webhooks_unserved|waiting_deliveries|delivery_attempts_total|circuits_open|event_to_success_seconds)/;
const reds = new Set(['red', 'dark-red', 'semi-dark-red', 'light-red'].map(css));

/**
 * Goes by what the row's title or its own says, else by what it asks for. Null for other panels and the count of
 * alerts.
 */
export function halfOf({ type, row, title, targets }: Panel, firstRows: string[]): Half | null {
  if (!['stat', 'gauge'].includes(type) || !firstRows.includes(row)) return null;
  if (targets.some(({ expr }) => expr?.includes('ALERTS'))) return null;
  for (const text of [row, title]) {
    const said = [/\bours\b/i, /\btheirs\b/i].map((word) => word.test(text));
    if (said[0] !== said[1]) return said[0] ? 'ours' : 'theirs';
  }
  return targets.some(({ expr }) => ofReceivers.test(expr ?? '')) ? 'theirs' : 'ours';
}

/** Those which say so, else the first. */
export function firstRowsOf(panels: Panel[]): string[] {
  const rows = [...new Set(panels.map(({ row }) => row))];
  const named = rows.filter((row) => /\b(ours|theirs)\b/i.test(row)).slice(0, 2);
  return named.length === 2 ? named : rows.slice(0, 1);
}

export function redPanels(answered: Answered[]): Record<Half, string[]> {
  const rows = firstRowsOf(answered.map(({ panel }) => panel));
  const red: Record<Half, string[]> = { ours: [], theirs: [] };
  for (const one of answered) {
    const half = halfOf(one.panel, rows);
    if (half && figuresOf(one).some(({ color }) => reds.has(color))) red[half].push(one.panel.title);
  }
  return red;
}

export function redOf({ ours, theirs }: Record<Half, string[]>): Red {
  if (ours.length > 0) return theirs.length > 0 ? 'both' : 'ours';
  return theirs.length > 0 ? 'theirs' : 'none';
}
