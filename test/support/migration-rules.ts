/**
 * Rules that keep a migration from breaking the previous version, which works on the new schema during a release and
 * after a rollback (docs/kubernetes/README.md, "A new version").
 */

export interface Refusal {
  line: number;
  statement: string;
  why: string;
}

interface Statement {
  line: number;
  /** The text in lower case on one line: no comments, literals and bodies of functions left out. */
  text: string;
  body: string;
  comments: string[];
}

const token =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|\s+|[^\s;'"$/-]+|./g;

function statementsOf(sql: string): Statement[] {
  const statements: Statement[] = [];
  const begin = (): Statement => ({ line: 0, text: '', body: '', comments: [] });
  let [current, line] = [begin(), 1];
  const end = () => {
    if (current.line > 0) statements.push({ ...current, text: current.text.trim() });
    current = begin();
  };
  for (const [part] of sql.matchAll(token)) {
    if (part.startsWith('--') || part.startsWith('/*')) {
      current.comments.push(part);
      current.text += ' ';
    } else if (part === ';') end();
    else if (part.trim() === '') current.text += ' ';
    else {
      current.line ||= line;
      if (part.startsWith('$') && part.length > 1) current.body += part.toLowerCase();
      else if (part.startsWith("'")) current.text += "''";
      else current.text += part.startsWith('"') ? part.slice(1, -1) : part.toLowerCase();
    }
    line += part.split('\n').length - 1;
  }
  end();
  return statements.map((one) => ({ ...one, text: one.text.replace(/\s+/g, ' ') }));
}

function listed(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

const isGone = 'the version before uses it';
const isRefused = 'the version before may write what it refuses';

const actions: [RegExp, string][] = [
  [/^drop\b/, isGone],
  [/^rename\b/, isGone],
  [/^set schema\b/, isGone],
  [/^detach\b/, isGone],
  [/^alter (column )?\S+ (set data )?type\b/, 'the version before knows another type'],
  [/^alter (column )?\S+ set not null/, 'the version before may write a null'],
  [
    /^alter (column )?\S+ drop (default|identity|expression)/,
    'the version before writes no value of its own',
  ],
  [/^add (constraint|check|unique|primary key|foreign key|exclude)\b/, isRefused],
  [/^(enable|force) row level security/, isRefused],
];

function ofAction(action: string): string | null {
  const known = actions.find(([pattern]) => pattern.test(action));
  if (known) return known[1];
  const isAdded = /^add (column )?/.test(action);
  if (isAdded && /\b(not null|primary key)\b/.test(action) && !/\b(default|generated)\b/.test(action))
    return 'the version before gives it no value';
  return null;
}

const named = String.raw`(?:if (?:not )?exists )?(?:only )?([\w.]+)`;

const changing = /\b(drop|rename|truncate|revoke|alter (table|type|index|view|domain)|set not null)\b/;

function judge({ text, body }: Statement, own: Set<string>): string | null {
  const isOwn = (pattern: string) => own.has(new RegExp(`^${pattern}`).exec(text)?.[1] ?? '');
  if (/^drop\b/.test(text)) return isOwn(String.raw`drop (?:materialized view|\w+) ${named}`) ? null : isGone;
  if (/^truncate\b/.test(text)) return 'the version before needs its rows';
  if (/^revoke\b/.test(text))
    return isOwn(String.raw`revoke .*? on (?:function |table |sequence )?([\w.]+)`) ? null : isGone;
  if (/^create unique index\b/.test(text))
    return isOwn(String.raw`create unique index .*?\bon (?:only )?([\w.]+)`) ? null : isRefused;
  if (/^do\b/.test(text)) return changing.test(body) ? 'a block cannot be judged' : null;
  if (!/^alter\b/.test(text)) return null;
  const table = /^alter (?:foreign )?table (?:if exists )?(?:only )?([\w.]+) \*?(.*)$/.exec(text);
  if (!table) return /\b(rename|set schema|drop|set not null|add constraint)\b/.test(text) ? isGone : null;
  if (own.has(table[1]!)) return null;
  const reasons = listed(table[2]!).map(ofAction);
  return reasons.find((reason) => reason !== null) ?? null;
}

const created = new RegExp(
  String.raw`^create (?:or replace )?(?:unlogged |materialized |unique )?(?:table|view|index|function|type|sequence) (?:concurrently )?${named}`,
);
const allowed = /^--\s*release:\s*\S.{9,}/;

/** Objects that the migration creates are exempt; a comment `-- release: <why it is safe>` on a statement allows it. */
export function refusals(sql: string): Refusal[] {
  const statements = statementsOf(sql);
  const own = new Set(statements.map(({ text }) => created.exec(text)?.[1] ?? '').filter(Boolean));
  return statements.flatMap((statement) => {
    const why = judge(statement, own);
    if (why === null || statement.comments.some((comment) => allowed.test(comment))) return [];
    return [{ line: statement.line, statement: statement.text.slice(0, 120), why }];
  });
}
