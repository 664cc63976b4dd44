export const USE_YOUR_OWN = 'set DATABASE_URL to use your own PostgreSQL ≥ 15';

const PREFIX = 'Embedded PostgreSQL: ';

/** The one error a caller sees: what is wrong, then what to do about it. */
export function problem(what: string, remedy: string, cause?: unknown): Error {
  return new Error(`${PREFIX}${what}. What to do: ${remedy}.`, { cause });
}

/** For what nobody foresaw, which with files is nearly always a matter of permissions or space. */
export function asProblem(error: unknown, dataDir: string): Error {
  if (error instanceof Error && error.message.startsWith(PREFIX)) return error;
  const remedy = `make sure that there is space and that this user may read and write all in ${dataDir}`;
  return problem(messageOf(error), `${remedy}, or ${USE_YOUR_OWN}`, error);
}

/** The code of a Node or PostgreSQL error (`ENOENT`, `28P01`), or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
