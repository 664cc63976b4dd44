import { isOfThePiece } from './database/postgres.js';

/**
 * Does `work` for all items at once and, if that fails, for each half of them by itself, down to one: an item that
 * fails does not hold up the others. Resolves with the items it failed for. Rejects if it failed for more than one item
 * and succeeded for none, or if PostgreSQL is out of reach: then the items are not to blame.
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
