/** A request as people paste it: from a terminal, a log, a debugger or a console. */

export interface Pasted {
  /** Names are in lower case. A name that stands there twice with different values has both. */
  headers: Record<string, string | string[]>;
  /** Headers of a notification that the text names, without a value that can be read. */
  unread: string[];
  /** Empty if the text has none. */
  body: string;
}

type Entry = [name: string, value: string];

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
/** These are looked for wherever they stand; other headers are read from JSON and from lines. */
const sought = [...names, 'content-length'] as const;
type Sought = (typeof sought)[number];

/**
 * Reads lines of HTTP, of `curl -v` and of a curl command, pairs on lines of their own, JSON (an object, a list, an event
 * of AWS Lambda, a HAR entry), and what languages and servers print: dicts, maps, arrays, `HTTP_WEBHOOK_ID`.
 */
export function readPasted(given: string): Pasted {
  const text = withoutDecoration(given);
  const json = parsed(text);
  const { entries, body } = isObject(json)
    ? ofJson(json, text)
    : ofText(typeof json === 'string' ? json : text);
  const all = new Map<string, string[]>();
  for (const [name, value] of entries) {
    const key = normalName(name);
    const values = all.get(key) ?? [];
    if (!values.includes(value)) all.set(key, [...values, value]);
  }
  // Under other names, such as `sig=`: nothing is missing from such a text.
  if (!names.some((name) => all.has(name) || occurrencesOf(text, name).length > 0) && aSignature.test(text))
    all.clear();
  return {
    headers: Object.fromEntries(
      [...all].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
    ),
    unread: names.filter((name) => !all.has(name) && occurrencesOf(text, name).length > 0),
    body,
  };
}

const aSignature = /\bv1,[\w+/-]{43}/;

/** Without what terminals, `docker compose` and dumpers put around a text, or write instead of ASCII. */
function withoutDecoration(given: string): string {
  const text = given
    .replace(/(?:\x1B|\\x1b|\\u001b|\\033|\\e)\[[\d;]*m/gi, '')
    .replace(/[▼▶]/g, '')
    .replace(/[│┃]/g, '|')
    .replace(/[“”]/g, '"')
    .replace(/[‘’]/g, "'")
    .replaceAll('：', ':')
    .replace(/\u00A0/g, ' ');
  const [container] = /^[\w.-]+ +\| ?/.exec(text) ?? [];
  const lines = text.trimEnd().split('\n');
  const isOfContainer =
    container !== undefined && lines.every((line) => line.startsWith(container.trimEnd()));
  return isOfContainer ? lines.map((line) => line.slice(container.length)).join('\n') : text;
}

/** JSON may stand in a string of JSON. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? (parsed(value) ?? value) : value;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** In lower case, as HTTP has it: CGI, WSGI, Rack and the variables of servers have underscores. */
function normalName(name: string): string {
  const lower = name.toLowerCase();
  if (lower.startsWith('http_')) return lower.slice(5).replaceAll('_', '-');
  return lower.replace(/^.*[._](?=webhook-(?:id|timestamp|signature)$)/, ''); // `request_…`, `http.request.header.…`
}

const isOfNotification = ([name]: Entry) => (names as readonly string[]).includes(normalName(name));

const ofText = (text: string) => ({
  entries: [...entriesOfText(text), ...entriesOfLines(text)],
  body: bodyOfText(text),
});

/** A request may stand deep within an entry of a log. */
const maxNodes = 20_000;

function ofJson(json: Record<string, unknown>, text: string): { entries: Entry[]; body: string } {
  const nodes = [{ value: json, parent: json }];
  for (let at = 0; at < nodes.length && at < maxNodes; at += 1) {
    const { value, parent } = nodes[at]!;
    const entries = entriesOf(value);
    if (entries.some(isOfNotification)) return { entries, body: bodyOf(parent) };
    for (const child of Object.values(value))
      if (isObject(child)) nodes.push({ value: child, parent: value });
  }
  const texts = nodes.flatMap(({ value }) => Object.values(value).filter((each) => typeof each === 'string'));
  const { headers } = json;
  const found = entriesOfText(texts.join('\n'));
  return {
    entries: [
      ...entriesOf(isObject(headers) ? headers : json),
      ...(found.length > 0 ? found : entriesOfText(text)),
    ],
    body: '',
  };
}

/** The pairs of an object, of a list of pairs, of a list of `{name, value}`, or of names and values by turns. */
function entriesOf(value: Record<string, unknown>): Entry[] {
  if (!Array.isArray(value)) return Object.entries(value).flatMap(toEntries);
  const list = value as unknown[];
  if (list.every((each) => Array.isArray(each)))
    return list.flatMap(([name, ...values]: unknown[]) => toEntries([String(name), values.flat()]));
  if (list.every(isObject)) return list.flatMap(ofNamed);
  return list.flatMap((name, index) => (index % 2 === 0 ? toEntries([String(name), list[index + 1]]) : []));
}

function ofNamed(item: Record<string, unknown>): Entry[] {
  const field = (wanted: RegExp) => Object.entries(item).find(([name]) => wanted.test(name))?.[1];
  const name = field(/^(name|key)$/i);
  return typeof name === 'string'
    ? toEntries([name, field(/^values?$/i)])
    : Object.entries(item).flatMap(toEntries);
}

/** A value may be `{"value": …}`, as in events of CloudFront and in logs of Google Cloud. */
const toEntries = ([name, value]: [string, unknown]): Entry[] =>
  [value]
    .flat()
    .flatMap((each): Entry[] =>
      isObject(each)
        ? toEntries([name, each.value ?? each.stringValue])
        : each == null || each === ''
          ? []
          : [[name, String(each as string | number | boolean).trim()]],
    );

/** The text beside the headers in an event of AWS Lambda, in a HAR entry, or in a framework's request. */
function bodyOf({ rawBody, body, postData, isBase64Encoded }: Record<string, unknown>): string {
  const given = [rawBody, body, isObject(postData) ? postData.text : ''].find(
    (each) => typeof each === 'string' && each !== '',
  ) as string | undefined;
  return (isBase64Encoded === true ? textOfBase64(given ?? '') : null) ?? given ?? '';
}

/** Null if it is not the Base64 of text. */
export function textOfBase64(base64: string): string | null {
  try {
    const plain = base64.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/');
    return textOfBytes(Array.from(atob(plain), (character) => character.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** Null if they are not UTF-8. */
export function textOfBytes(bytes: number[]): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

const dataOfCurl =
  /\s(?:-d|--data(?:-raw|-binary|-ascii)?)[\s=]+\$?(?:'((?:[^']|'\\'')*)'|"((?:[^"\\]|\\.)*)")/;

/** The text that `curl` is told to send, or a JSON object after an empty line. */
function bodyOfText(text: string): string {
  const [, single, double] = dataOfCurl.exec(text) ?? [];
  if (single !== undefined) return single.replaceAll("'\\''", "'");
  if (double !== undefined) return double.replace(/\\(.)/g, '$1');
  const at = text.search(/\n\r?\n[ \t]*\{/);
  const rest = at < 0 ? '' : text.slice(at).trim();
  return isObject(parsed(rest)) ? rest : '';
}

/** The start of a line of `curl -v`, of a curl command, or of a quote. */
const linePrefix = /^\s*(?:[<>*|]\s+|(?:-H|--header)[\s=]+)?/;
/** White space and the backslash of a shell. Without the look-behind a long run costs its square. */
const trailing = /(?<![\s\\])[\s\\]+$/;
const nameAndValue = /^["']?([A-Za-z][\w-]*)["']?\s*(?::|=>|=)\s*(.*)$/;

/** Other headers, one in a line. */
function entriesOfLines(text: string): Entry[] {
  return text.split(/\r\n|[\r\n]/).flatMap((line): Entry[] => {
    const bare = unquoted(line.replace(linePrefix, '').replace(trailing, ''));
    const [, name, value] = nameAndValue.exec(bare) ?? [];
    if (name === undefined || (sought as readonly string[]).includes(normalName(name))) return [];
    return [[name, unquoted(value!.replace(/,$/, ''))]];
  });
}

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text.trim())?.[2] ?? text.trim();

function entriesOfText(given: string): Entry[] {
  const text = given.replaceAll('\\"', '"').replace(/\\r\\n|\\n/g, '\n'); // JSON within a text
  return sought.flatMap((name) =>
    occurrencesOf(text, name).flatMap((end): Entry[] => {
      const value = valueAt(text, end, name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

const maxOccurrences = 64;
const endsOf = (text: string, pattern: RegExp): number[] =>
  Array.from(text.matchAll(pattern), (found) => found.index + found[0].length).slice(0, maxOccurrences);

const anyName = /(?<![\w-])(?:\w*http_webhook_|(?:\w+_)?webhook-)(?:id|timestamp|signature)(?![\w-])/i;

/** Where each ends. A notice has a field `webhook_id`: written so, a name counts only where no other form stands. */
function occurrencesOf(text: string, name: Sought): number[] {
  const variable = name.replace('-', '_');
  const sure = endsOf(
    text,
    new RegExp(`(?<![\\w-])(?:\\w*http_${variable}|(?:\\w+_)?${name})(?![\\w-])`, 'gi'),
  );
  if (sure.length > 0 || anyName.test(text)) return sure;
  return endsOf(text, new RegExp(`(?<![\\w-])${name.replace('-', '_?')}(?![\\w-])`, 'gi'));
}

/** One piece of what may stand between a name and its value: signs, and how languages print a list or a text. */
const glue =
  /\[?\b\d+\]?\s*=>|\(\d{1,6}\)|\[\d{1,2}\]|\b(?:\w*list|array\w*|string|vec(?:tor)?|some|seq|set)\b(?::\d+)?(?=\s*[([{])|\b(?:system\.string|(?:string)?value|inner)\b(?=["'\s]*[[{:=])|<\/?\w+>|\bb(?=["'])|[\s[\](){}<>:=|,;*&-]/iy;
const maxGlueLength = 200;

/** A quotation to its end, and what joins it to the next one. */
const quotation = /(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1/y;
const joint = /\s*(?:\+\s*(?=["'`])|(?=["'`]v\d+,))/y;
const signatures = /v\d+[a-z]?[,=][\w+/=-]+(?:[\s,;]+v\d+[a-z]?[,=][\w+/=-]+)*/y;
const word = /[^\s,;'"`[\](){}<>|]+/y;
/** The value of a plain line may have any sign. */
const plain = /:[ \t]*([^\s"'`[{(<][^\s"'`]*)(?=\s|$)/y;
const nextHeader = /[\w-]+["']?\s*(?::|=>|=(?![=\s"',)\]}]|$))/y;

const expected: Record<Sought, RegExp> = {
  'webhook-id': /[\w-]*\d[\w-]+/y,
  'webhook-timestamp': /\d{9,13}(?!\w)/y,
  'webhook-signature': /v\d+[a-z]?,/y,
  'content-length': /\d+(?!\w)/y,
};

/** The value after a name that ends at `end`; null if none can be read. */
function valueAt(text: string, end: number, name: Sought): string | null {
  const found = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const line = name === 'webhook-id' ? found(plain, end) : null;
  if (line) return line[1]!.replace(/[\\,;]+$/, '');
  const start = end + (/["'`]/.test(text[end] ?? '') ? 1 : 0); // the end of a quoted name
  let at = start;
  for (let piece; at - start < maxGlueLength && (piece = found(glue, at));) at += piece[0].length;
  const between = text.slice(start, at);
  if (found(quotation, at)) {
    let value = '';
    for (let part; (part = found(quotation, at)); at = quotation.lastIndex) {
      value += part[2]!;
      if (!found(joint, quotation.lastIndex)) break;
      quotation.lastIndex = joint.lastIndex;
    }
    return isName(value) || value.trim() === '' ? null : unescaped(value).trim();
  }
  const isAsExpected = found(expected[name], at) !== null;
  if (!isAsExpected && (!/[:=|\n]/.test(between) || found(nextHeader, at))) return null;
  const value = (found(signatures, at) ?? found(word, at))?.[0] ?? '';
  return value === '' || isName(value) ? null : value.replace(/\s+/g, ' ');
}

const isName = (value: string) => anyName.test(value) || /^(?:null|nil|none|undefined)$/i.test(value);

const unescaped = (text: string) =>
  text
    .replaceAll('\\/', '/')
    .replace(/\\u([\da-f]{4})/gi, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
