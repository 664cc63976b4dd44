/**
 * Escapes control characters, except newline and tab, which could steer a terminal, and marks of direction. JSON stays
 * the same JSON.
 */
export const printable = (text: string): string =>
  text.replace(
    /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The blanks before a line, or the name before a description: two or more blanks separate them. */
const beforeText = /^ *(?:\S(?:.*?\S)?(?: {2,})(?=\S))?/;

/** Breaks lines between words. The rest of a line continues below its text; a word that is too long stays whole. */
export const wrapped = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => (line.length <= width ? line : folded(line, width)))
    .join('\n');

function folded(line: string, width: number): string {
  const start = beforeText.exec(line)![0];
  const [first = '', ...words] = line.slice(start.length).split(' ');
  const lines = [start + first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(' '.repeat(start.length) + word);
  }
  return lines.join('\n');
}

/** Characters on a line of help, also where it goes into a pipe. */
export const helpWidth = (stdout: { columns?: number }, env: Record<string, string | undefined>): number =>
  stdout.columns ?? (Number(env.COLUMNS) || 80);
