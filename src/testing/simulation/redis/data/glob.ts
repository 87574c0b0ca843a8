/** Whether a text matches a pattern of `KEYS`, `SCAN` and `PSUBSCRIBE`: `*`, `?`, `[a-c]`, `[^x]` and `\` before a sign that stands for itself. */
export function matchesGlob(pattern: string, text: string): boolean {
  let [p, t] = [0, 0];
  let [starAt, starText] = [-1, 0];
  while (t < text.length) {
    if (pattern[p] === '*') {
      [starAt, starText] = [p, t];
      p += 1;
      continue;
    }
    const next = p < pattern.length ? matchOne(pattern, p, text[t] ?? '') : undefined;
    if (next !== undefined) {
      p = next;
      t += 1;
    } else if (starAt >= 0) {
      // The last star takes one sign more.
      starText += 1;
      [p, t] = [starAt + 1, starText];
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}

/** The place at which the pattern goes on after a sign that it matches at `p`. */
function matchOne(pattern: string, p: number, sign: string): number | undefined {
  const first = pattern[p];
  if (first === '?') return p + 1;
  if (first === '[') return matchClass(pattern, p + 1, sign);
  const isEscape = first === '\\' && p + 1 < pattern.length;
  return pattern[isEscape ? p + 1 : p] === sign ? p + (isEscape ? 2 : 1) : undefined;
}

function matchClass(pattern: string, start: number, sign: string): number | undefined {
  const isNegated = pattern[start] === '^';
  let at = isNegated ? start + 1 : start;
  let isIn = false;
  while (at < pattern.length && pattern[at] !== ']') {
    if (pattern[at] === '\\' && at + 1 < pattern.length) at += 1;
    const from = pattern[at] ?? '';
    const isRange = pattern[at + 1] === '-' && at + 2 < pattern.length;
    const to = isRange ? (pattern[at + 2] ?? '') : from;
    if ((sign >= from && sign <= to) || (sign >= to && sign <= from)) isIn = true;
    at += isRange ? 3 : 1;
  }
  return isIn === isNegated ? undefined : Math.min(at + 1, pattern.length);
}
