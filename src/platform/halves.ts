import { isOfThePiece } from './database/postgres.js';

/**
 * Does `work` for all items at once, and where that fails, for each half of them by itself, down to one: what cannot be
 * done for one keeps no other from it. Resolves with the items it failed for. Rejects where it failed for more than one
 * item and succeeded for none, or where PostgreSQL is out of reach: then nothing is the matter with the items.
 */
export async function inHalves<Item>(
  items: Item[],
  work: (items: Item[]) => Promise<unknown>,
): Promise<{ item: Item; error: unknown }[]> {
  let failure: { error: unknown } | undefined;
  const failed: { item: Item; error: unknown }[] = [];
  const attempt = async (some: Item[]): Promise<void> => {
    try {
      await work(some);
    } catch (error) {
      if (!isOfThePiece(error)) throw error;
      failure ??= { error };
      if (some.length === 1) return void failed.push({ item: some[0]!, error });
      const middle = Math.ceil(some.length / 2);
      await attempt(some.slice(0, middle));
      await attempt(some.slice(middle));
    }
  };
  if (items.length > 0) await attempt(items);
  if (failure && items.length > 1 && failed.length === items.length) throw failure.error;
  return failed;
}
