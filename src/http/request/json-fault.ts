/** Values, texts that end, and signs of a JSON text, with the blanks before them. */
const part =
  /[ \t\r\n]*(?:"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:])/y;
const blanks = /[ \t\r\n]*/y;

/** A string up to where it ends or goes wrong. */
const stringBegun = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001f]*)*/y;

type Due = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd';

/** Where a text stops being JSON, and the likely remedy: `unexpected } at line 1, column 9; leave out …`. */
export function jsonFault(text: string): string {
  const open: ('[' | '{')[] = [];
  let due: Due = 'value';
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
  const end = open.length === 0 ? '' : open.at(-1) === '[' ? ']' : '}';
  const isInString = text[at] === '"' && /^(?:value|key)/.test(due);
  stringBegun.lastIndex = at;
  if (isInString) at += stringBegun.exec(text)![0].length;
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
  const remedy = isInString ? remedyInString(text[at]) : remedyFor(text, at, due, end);
  return `unexpected ${nameOf(text[at])} at ${place}${remedy && `; ${remedy}`}`;
}

/** The remedy for a character that a string must not have; `undefined`: the string is cut off. */
function remedyInString(character: string | undefined): string {
  if (character === undefined) return 'a quotation mark is missing at the end of the last string';
  if (character === '\\') return 'write a backslash in a string as \\\\';
  return character === '\n' || character === '\r'
    ? 'end the string with a quotation mark before it, or write a line break in it as \\n'
    : 'write a control character in a string as an escape, such as \\t';
}

/** Corrects what other languages write, and names what is missing; empty for anything else. */
function remedyFor(text: string, at: number, due: Due, end: string): string {
  const next = text.slice(at, at + 30);
  const [word = ''] = /^-?[A-Za-z_$][\w$]{0,20}/.exec(next) ?? [];
  if (/^['`]/.test(next)) return 'use double quotation marks';
  if (/^[“”„«]/.test(next)) return 'use straight quotation marks: "';
  if (next.startsWith('/')) return 'JSON has no comments';
  if (/^key/.test(due) && /^[\w$]/.test(next)) return 'put the name in double quotation marks';
  if (/^[\]}]/.test(next) && /,\s*$/.test(text.slice(0, at))) return 'leave out the comma before it';
  if (due === 'colon') return 'a colon is missing before it';
  if (due === 'commaOrEnd') return remedyAfterValue(text, at, end);
  if (/^(?:NaN|-?Infinity|undefined|None|nil)$/.test(word)) return 'write null';
  if (/^(?:true|false|null)$/i.test(word)) return `write ${word.toLowerCase()}`;
  if (word !== '') return 'put a string in double quotation marks';
  if (!/^key/.test(due) && /^[-+.](?!\.)/.test(next)) return numberForm;
  return next === '' || /^[\]},:]/.test(next)
    ? `a ${/^key/.test(due) ? 'name' : 'value'} is missing before it`
    : '';
}

const numberForm = 'write numbers as 12, 0.5 or -1e3';

/** `end` closes the array or object that the value is in; it is empty for the outermost value. */
function remedyAfterValue(text: string, at: number, end: string): string {
  const next = text[at] ?? '';
  const before = text[at - 1]!;
  if (/\d/.test(before) && /[\w.]/.test(next)) return numberForm;
  if (/\d/.test(before) && /[-:]/.test(next)) return 'put a string in double quotation marks'; // a day or a time
  if (before === '"' && /[^\s\]},:;"]/.test(next)) return 'write a quotation mark in a string as \\"';
  if (end === '') return 'the JSON ended before it';
  return next === '' || /[\]}:]/.test(next)
    ? `${end} is missing before it`
    : `a comma or ${end} is missing before it`;
}

function nameOf(character: string | undefined): string {
  if (character === undefined) return 'end';
  if (character === '\n' || character === '\r') return 'line break';
  return /^[\x21-\x7e]$/.test(character) ? character : 'character';
}
