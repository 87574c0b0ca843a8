/** What became of each item: tried ones in `outcomes`, in order; the rest was never tried. */
export interface SlowStartResult<Item, Outcome> {
  readonly outcomes: readonly Outcome[];
  readonly untried: readonly Item[];
}

/**
 * Tries 1 item, then 2, 4, 8 … at once, and stops after the first batch with a failure: a quota that refuses one
 * pod will refuse 500, and need not be asked 500 times. `run` reports a failure by its outcome and does not reject.
 */
export async function slowStartBatch<Item, Outcome>(
  items: readonly Item[],
  run: (item: Item) => Promise<Outcome>,
  isFailure: (outcome: Outcome) => boolean,
): Promise<SlowStartResult<Item, Outcome>> {
  const outcomes: Outcome[] = [];
  for (let size = 1; outcomes.length < items.length; size *= 2) {
    const batch = items.slice(outcomes.length, outcomes.length + size);
    const results = await Promise.all(batch.map((item) => run(item)));
    outcomes.push(...results);
    if (results.some(isFailure)) break;
  }
  return { outcomes, untried: items.slice(outcomes.length) };
}
