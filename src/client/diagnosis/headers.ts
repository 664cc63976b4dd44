/** The reader of pasted headers. */

/** The prefixes of `curl -v`, of a curl command, of a quote. */
const linePrefix = /^\s*(?:[<>*|]\s+|(?:-H|--header)[\s=]+)?/;
/** White space and the backslash of a shell. Without the look-behind a long run costs its square. */
const trailing = /(?<![\s\\])[\s\\]+$/;
const nameAndValue = /^["']?([A-Za-z][\w-]*)["']?\s*(?::|=>|=)\s*(.*)$/;

/**
 * The headers in a pasted text: `Name: value` lines, also as printed by `curl -v` or written for curl, as variables of
 * CGI (`HTTP_WEBHOOK_ID=…`), or as a JSON object or list. Names are in lower case. A name that stands there twice with
 * different values has both.
 */
export function parseHeaders(text: string): Record<string, string | string[]> {
  const all = new Map<string, string[]>();
  for (const [name, value] of entriesOf(text)) {
    const key = normalName(name);
    const values = all.get(key) ?? [];
    if (!values.includes(value)) all.set(key, [...values, value]);
  }
  return Object.fromEntries(
    [...all].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

const normalName = (name: string): string => {
  const lower = name.toLowerCase();
  return lower.startsWith('http_') ? lower.slice(5).replaceAll('_', '-') : lower;
};

type Entry = [name: string, value: string];

const entriesOf = (text: string): Entry[] => entriesOfJson(text) ?? entriesOfLines(text);

function entriesOfJson(text: string): Entry[] | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const { headers } = json as { headers?: unknown };
  const object: unknown = typeof headers === 'object' && headers !== null ? headers : json;
  if (!Array.isArray(object)) return Object.entries(object as object).flatMap(toEntries);
  if (object.every((each) => Array.isArray(each)))
    return object.flatMap(([name, value]: unknown[]) => toEntries([String(name), value]));
  // Node's rawHeaders: names and values by turns.
  return object.flatMap((name, index) =>
    index % 2 === 0 ? toEntries([String(name), object[index + 1]]) : [],
  );
}

const toEntries = ([name, value]: [string, unknown]): Entry[] =>
  [value].flat().map((each) => [name, String(each).trim()]);

function entriesOfLines(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const bare = unquoted(line.replace(linePrefix, '').replace(trailing, ''));
    const [, name, value] = nameAndValue.exec(bare) ?? [];
    const last = entries.at(-1);
    if (name !== undefined) entries.push([name, unquoted(value!.replace(/,$/, ''))]);
    else if (last && /^v\d/.test(bare)) last[1] = `${last[1]} ${bare}`.trim(); // a signature on a line of its own
  }
  return entries;
}

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text.trim())?.[2] ?? text.trim();
