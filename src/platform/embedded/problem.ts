export const useYourOwn = 'set DATABASE_URL to use your own PostgreSQL ≥ 15';

const messagePrefix = 'Embedded PostgreSQL: ';

export function problem(what: string, remedy: string, cause?: unknown): Error {
  return new Error(`${messagePrefix}${what}. What to do: ${remedy}.`, { cause });
}

/** Unexpected errors are nearly always about permissions or space. */
export function asProblem(error: unknown, dataDir: string): Error {
  if (error instanceof Error && error.message.startsWith(messagePrefix)) return error;
  const remedy = `make sure that there is space and that this user can read and write everything in ${dataDir}`;
  return problem(messageOf(error), `${remedy}, or ${useYourOwn}`, error);
}

/** The code of Node or PostgreSQL (`ENOENT`, `28P01`), or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
