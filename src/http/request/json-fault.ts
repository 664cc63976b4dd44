/** Values, texts that end, and signs of a JSON text, with the blanks before them. */
const part =
  /[ \t\r\n]*(?:"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:])/y;
const blanks = /[ \t\r\n]*/y;

/** Where a text stops being JSON, as `unexpected } at line 1, column 9`. */
export function jsonFault(text: string): string {
  const open: ('[' | '{')[] = [];
  let due: 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' = 'value';
  let at = 0;
  for (;;) {
    part.lastIndex = at;
    const found = part.exec(text)?.[0].trim();
    const first = found?.[0];
    const end = open.at(-1) === '[' ? ']' : '}';
    const takesValue = due === 'value' || due === 'valueOrEnd';
    if (open.length === 0 && due === 'commaOrEnd') break; // the rest is too much
    if (first === end && /OrEnd$/.test(due)) {
      open.pop();
      due = 'commaOrEnd';
    } else if (takesValue && (first === '[' || first === '{')) {
      open.push(first);
      due = first === '[' ? 'valueOrEnd' : 'keyOrEnd';
    } else if (takesValue && first !== undefined && !/[\]},:]/.test(first)) due = 'commaOrEnd';
    else if (/^key/.test(due) && first === '"') due = 'colon';
    else if (due === 'colon' && first === ':') due = 'value';
    else if (due === 'commaOrEnd' && first === ',') due = end === ']' ? 'value' : 'key';
    else break;
    at = part.lastIndex;
  }
  blanks.lastIndex = at;
  at += blanks.exec(text)![0].length;
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
  const remedy = remedyFor(text, at, due.startsWith('key'));
  return `unexpected ${nameOf(text, at)} at ${place}${remedy && `; ${remedy}`}`;
}

const wordsElsewhere: Record<string, string> = { True: 'true', False: 'false' };

/** Corrects what other languages write; empty for anything else. */
function remedyFor(text: string, at: number, isKeyDue: boolean): string {
  const [word = ''] = /^-?[A-Za-z_$][\w$]{0,20}/.exec(text.slice(at, at + 30)) ?? [];
  if (text[at] === "'") return 'use double quotation marks';
  if (text[at] === '/') return 'JSON has no comments';
  if (isKeyDue && word !== '') return 'put the name in double quotation marks';
  if (/^(?:NaN|-?Infinity|undefined|None|nil)$/.test(word)) return 'write null';
  if (Object.hasOwn(wordsElsewhere, word)) return `write ${wordsElsewhere[word]}`;
  return /^[\]}]/.test(text.slice(at)) && /,\s*$/.test(text.slice(0, at))
    ? 'leave out the comma before it'
    : '';
}

function nameOf(text: string, at: number): string {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  if (at >= text.length) return 'end';
  if (character === '"') return 'text, or one that is cut off or has a wrong escape,';
  return /^[\x21-\x7e]$/.test(character) ? character : 'character';
}
