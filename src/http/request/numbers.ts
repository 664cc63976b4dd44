/** A double is identified by this many digits: what some languages write beyond the shortest ones is no loss. */
const maxDigits = 17;

/** Shorter numbers without an exponent are always exact. This also matches digits in texts. */
const maybeInexact = /\d[\d.]{15,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d+/g;

/** Numbers of a body that are not in their shortest form: the check of each takes microseconds. */
export const maxLongForms = 1_000;

/** The keys that lead to each number of a valid JSON text whose digits a double cannot keep; null if it has too many. */
export function inexactNumbers(text: string): (string | number)[][] | null {
  let longForms = 0;
  let isAnyInexact = false;
  for (const [number] of text.matchAll(maybeInexact)) {
    if (String(Number(number)) === number) continue;
    longForms += 1;
    if (longForms > maxLongForms) return null;
    isAnyInexact ||= !isExact(number);
  }
  return isAnyInexact ? keysOfInexact(text) : [];
}

function keysOfInexact(text: string): (string | number)[][] {
  const found: (string | number)[][] = [];
  const keys: (string | number)[] = [];
  let key: string | undefined; // a text that may be followed by a colon
  const token = /"|[[\]{},:]|[^\s"[\]{},:]+/g;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [part] = match;
    const last = keys.length - 1;
    if (part === '"') {
      const end = endOfText(text, match.index);
      if (typeof keys[last] === 'string') key = text.slice(match.index, end);
      token.lastIndex = end;
    } else if (part === '[') keys.push(0);
    else if (part === '{') keys.push('');
    else if (part === ']' || part === '}') keys.pop();
    else if (part === ':') keys[last] = JSON.parse(key!) as string;
    else if (part === ',' && typeof keys[last] === 'number') keys[last] += 1;
    else if (/^[-\d]/.test(part) && !isExact(part)) found.push([...keys]);
  }
  return found;
}

/** The index after the quotation mark that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  let end = start;
  do {
    end = json.indexOf('"', end + 1);
  } while (isEscaped(json, end));
  return end + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

/** Whether the double that JavaScript reads is what was sent: as written shortest, or rounded to as many digits. */
function isExact(number: string): boolean {
  const value = Number(number);
  if (String(value) === number || !Number.isFinite(value)) return true; // Infinity is refused as such
  const sent = digitsOf(number);
  if (sent.digits === '') return value === 0;
  const rounded = sent.digits.length > maxDigits ? roundedTo(maxDigits, sent) : sent;
  const kept = [String(value), value.toPrecision(Math.min(maxDigits, sent.digits.length))].map(digitsOf);
  return kept.some(({ digits, exponent }) => digits === rounded.digits && exponent === rounded.exponent);
}

/** 0.`digits` × 10^`exponent`, without zeros at either end; one digit more than those that count. */
interface Decimal {
  digits: string;
  exponent: number;
}

function digitsOf(number: string): Decimal {
  const [, whole = '', fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = whole + fraction;
  const significant = all.replace(/^0+/, '');
  const exponent = whole.length - (all.length - significant.length) + Number(power);
  return { digits: significant.slice(0, maxDigits + 1).replace(/0+$/, ''), exponent };
}

function roundedTo(length: number, { digits, exponent }: Decimal): Decimal {
  const up = digits[length]! >= '5' ? 1n : 0n;
  const kept = (BigInt(digits.slice(0, length)) + up).toString();
  return { digits: kept.replace(/0+$/, ''), exponent: exponent + kept.length - length };
}
