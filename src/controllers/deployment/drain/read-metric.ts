/**
 * The sum of the samples of one name in the text format of Prometheus, regardless of their labels; undefined if there is
 * none, or one is no number.
 */
export function readMetric(text: string, name: string): number | undefined {
  let sum: number | undefined;
  for (const line of text.split('\n')) {
    if (!line.startsWith(name)) continue;
    const rest = line.slice(name.length);
    if (!rest.startsWith('{') && !rest.startsWith(' ') && !rest.startsWith('\t')) continue;
    const [value] = rest
      .slice(rest.lastIndexOf('}') + 1)
      .trim()
      .split(/\s/, 1);
    const number = value === undefined || value === '' ? NaN : Number(value);
    if (!Number.isFinite(number)) return undefined;
    sum = (sum ?? 0) + number;
  }
  return sum;
}
