/** The items of all pages, one page after the other as they are asked for. */
export async function* itemsOf<Page extends { nextCursor: string | null }, Item>(
  read: (cursor: string | undefined) => Promise<Page>,
  items: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield* items(page);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
