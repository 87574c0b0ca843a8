/**
 * The text without the given characters at its end. An expression such as `/x+$/` would try each run of them again from
 * each of its characters, which is quadratic in the length of the run.
 * @param characters each of them is removed
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
