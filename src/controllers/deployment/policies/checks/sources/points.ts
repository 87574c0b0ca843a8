import { numberOf, valueAt } from './read-json.js';

/**
 * The newest value of each series that has any: what is newer and null has not been measured yet.
 * @param series the points of each, oldest first
 * @param at where the value is in a point
 */
export function newestOf(series: readonly (readonly unknown[])[], at: number): readonly number[] {
  return series.flatMap((points) => {
    const newest = points.findLast((point) => !isMissing(valueAt(point, at)));
    return newest === undefined ? [] : [numberOf(valueAt(newest, at))];
  });
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined;
}

/** All values of all series that have been measured. */
export function allOf(series: readonly (readonly unknown[])[], at: number): readonly number[] {
  return series.flatMap((points) =>
    points
      .map((point) => valueAt(point, at))
      .filter((value) => !isMissing(value))
      .map(numberOf),
  );
}
