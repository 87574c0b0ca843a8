/** How many keys have waited at most so many seconds, by the bounds of a histogram. */
export type QueueWaits = ReadonlyMap<number, number>;

const BUCKET = /^workqueue_queue_duration_seconds_bucket\{([^}]*)\} (\d+)/gm;

/** The waits of all queues together that a page of metrics counts. */
export function queueWaitsIn(metrics: string): QueueWaits {
  const waits = new Map<number, number>();
  for (const [, labels = '', count] of metrics.matchAll(BUCKET)) {
    const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? '+Inf';
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
    waits.set(seconds, (waits.get(seconds) ?? 0) + Number(count));
  }
  return waits;
}

/** The waits of several pages, less those of earlier ones. */
export function waitsBetween(before: readonly QueueWaits[], after: readonly QueueWaits[]): QueueWaits {
  const waits = new Map<number, number>();
  const add = (all: readonly QueueWaits[], sign: number): void => {
    for (const each of all)
      for (const [bound, count] of each) waits.set(bound, (waits.get(bound) ?? 0) + sign * count);
  };
  add(after, 1);
  add(before, -1);
  return waits;
}

/** The least bound within which so large a share has waited, seconds; undefined where nothing waited. */
export function boundOf(waits: QueueWaits, share: number): number | undefined {
  const buckets = [...waits].sort(([one], [other]) => one - other);
  const all = buckets.at(-1)?.[1] ?? 0;
  return all === 0 ? undefined : buckets.find(([, count]) => count >= share * all)?.[0];
}

/** The share that has waited no longer than a bound of the histogram, 0 to 1. */
export function shareWithin(waits: QueueWaits, seconds: number): number {
  const all = waits.get(Number.POSITIVE_INFINITY) ?? 0;
  return all === 0 ? 1 : (waits.get(seconds) ?? 0) / all;
}
