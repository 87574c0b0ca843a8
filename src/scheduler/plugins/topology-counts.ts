/** By how much the count of a domain is to change. */
export interface CountChange {
  readonly key: string;
  readonly value: string;
  readonly by: number;
}

type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

const NONE: Counts = new Map();

/**
 * Numbers by topology key and value. Immutable: a changed copy shares what it was made from, so that a what-if costs only what it
 * changes.
 */
export class TopologyCounts {
  private constructor(
    private readonly base: Counts,
    private readonly changes: Counts,
    /** The sum of all counts. */
    readonly total: number,
  ) {}

  static of(changes: Iterable<CountChange>): TopologyCounts {
    const counts = new Map<string, Map<string, number>>();
    return new TopologyCounts(counts, NONE, addAll(counts, changes));
  }

  get(key: string, value: string): number {
    const base = this.base.get(key)?.get(value) ?? 0;
    return this.changes.size === 0 ? base : base + (this.changes.get(key)?.get(value) ?? 0);
  }

  /** Whether any domain of this key has ever been counted. */
  has(key: string): boolean {
    return this.base.has(key) || this.changes.has(key);
  }

  plus(changes: readonly CountChange[]): TopologyCounts {
    if (changes.length === 0) return this;
    const copy = new Map([...this.changes].map(([key, counts]) => [key, new Map(counts)]));
    const added = addAll(copy, changes);
    return new TopologyCounts(this.base, copy, this.total + added);
  }
}

function addAll(counts: Map<string, Map<string, number>>, changes: Iterable<CountChange>): number {
  let total = 0;
  for (const { by, key, value } of changes) {
    let ofKey = counts.get(key);
    if (!ofKey) counts.set(key, (ofKey = new Map<string, number>()));
    ofKey.set(value, (ofKey.get(value) ?? 0) + by);
    total += by;
  }
  return total;
}
