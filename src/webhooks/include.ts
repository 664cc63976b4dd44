import * as z from 'zod';
import { described } from '../http/described.js';

const names = ['health', 'stats'] as const;
type Part = (typeof names)[number];
const isPart = (text: string): text is Part => names.some((name) => name === text);

/** What a list of webhooks shows besides. */
export const include = described(
  z.string(),
  'What to show of each besides, separated by commas: `health`, how its deliveries have been doing, and `stats`, its attempts of the last 24 hours.',
  'health,stats',
  { pattern: `^(?:${names.join('|')})(?:,(?:${names.join('|')}))*$` },
)
  .transform((text) => text.split(','))
  .refine((parts) => parts.every(isPart), `must be one or more of ${names.join(', ')}, separated by commas`)
  .transform((parts) => new Set(parts.filter(isPart)))
  .optional();

/** Reads the parts that are wanted of webhooks, each of them of all at once; what is to be shown of one then. */
export async function parts(
  sources: Record<Part, (webhookIds: string[]) => Promise<Map<string, object>>>,
  wanted: Set<Part> | undefined,
  webhookIds: string[],
): Promise<(webhookId: string) => Partial<Record<Part, object>>> {
  const read = await Promise.all(
    [...(wanted ?? [])].map(async (name) => [name, await sources[name](webhookIds)] as const),
  );
  return (webhookId) => Object.fromEntries(read.map(([name, of]) => [name, of.get(webhookId)!]));
}
