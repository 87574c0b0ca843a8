/** The places of the values that are there before already. Looking back from each of them would be quadratic. */
export function repeatedPlaces(values: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>();
  const repeated = new Set<number>();
  values.forEach((value, index) => {
    if (seen.has(value)) repeated.add(index);
    seen.add(value);
  });
  return repeated;
}
