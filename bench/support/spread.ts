export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
}

/** `2.05 (1.98 to 2.31)`: the median, and from least to most. */
export function spread(figures: readonly number[], digits = 0): string {
  const [most, least] = [Math.max(...figures), Math.min(...figures)];
  const [middle, from, to] = [median(figures), least, most].map((figure) => figure.toFixed(digits));
  return `${middle} (${from} to ${to})`;
}
