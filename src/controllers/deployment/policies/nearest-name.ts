/** Names that differ in more letters than this are not mistaken for each other, short ones in fewer. */
const MOST_MISTAKES = 3;

/** The known name that a mistyped one is closest to; `undefined` where none is close. */
export function nearestOf(name: string, known: Iterable<string>): string | undefined {
  const most = Math.min(MOST_MISTAKES, Math.floor(name.length / 3));
  let best: { readonly name: string; readonly mistakes: number } | undefined;
  for (const each of known) {
    if (Math.abs(each.length - name.length) > most) continue;
    const mistakes = mistakesBetween(name.toLowerCase(), each);
    if (mistakes <= most && mistakes < (best?.mistakes ?? Infinity)) best = { name: each, mistakes };
  }
  return best?.name;
}

/** Letters that are missing, too many, wrong, or swapped with the next one. */
function mistakesBetween(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        row > 1 && isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? Infinity;
}
