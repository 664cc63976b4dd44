/** Longer names are nobody's typing mistake. */
const maxLength = 100;

/**
 * The known name that `given` was probably meant to be: the same but for case, `_` and `-`, or one or two letters away
 * (one where either has at most four). Null if there is none.
 */
export function nearestName(given: string, known: Iterable<string>): string | null {
  if (given.length > maxLength) return null;
  const wanted = folded(given);
  let nearest: string | null = null;
  let least = Infinity;
  for (const name of known) {
    const other = folded(name);
    const distance = lettersApart(wanted, other);
    if (distance >= least || distance > (Math.min(wanted.length, other.length) <= 4 ? 1 : 2)) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

const folded = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

/** Damerau-Levenshtein with adjacent letters: insertions, deletions, substitutions and swaps. From 3 on not exact. */
function lettersApart(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? beforeLast[column - 2]! + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
