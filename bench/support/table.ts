/** Prints what a table is about, and the head of it, as Markdown. */
export function printTitles(about: string, ...titles: readonly string[]): void {
  console.log(`\n${about}\n`);
  printRow(...titles);
  printRow(...titles.map(() => '---'));
}

export function printRow(...cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

/** `5` or `3 to 7` */
export function rangeOf(figures: readonly number[], digits = 0): string {
  const [least, most] = [Math.min(...figures), Math.max(...figures)].map((each) => each.toFixed(digits));
  return least === most ? `${least}` : `${least} to ${most}`;
}

/** The figure that a share of all does not exceed; the greatest of few. */
export function quantileOf(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
