/** Something that is to happen at an instant of simulated time. */
export interface Timed {
  /** Simulated milliseconds. */
  readonly atMs: number;
  /** Decides between completions of the same instant. */
  readonly order: number;
}

/** A binary heap: the earliest first, of one instant the lowest order. */
export class CompletionHeap<T extends Timed> {
  private items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  get first(): T | undefined {
    return this.items[0];
  }

  /** Removes all others. */
  keep(isKept: (item: T) => boolean): void {
    // A sorted array is a heap.
    this.items = this.items.filter(isKept).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  push(item: T): void {
    const { items } = this;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const { items } = this;
    const [first] = items;
    const last = items.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child += 1;
      if (!isBefore(items[child]!, last)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return first;
  }
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
