/** A binary heap whose items can be replaced and removed by key. `less` decides which item comes out first. */
export class KeyedHeap<T> {
  private readonly items: T[] = [];
  private readonly places = new Map<string, number>();

  constructor(
    private readonly keyOf: (item: T) => string,
    private readonly less: (one: T, other: T) => boolean,
  ) {}

  get size(): number {
    return this.items.length;
  }

  get(key: string): T | undefined {
    const place = this.places.get(key);
    return place === undefined ? undefined : this.items[place];
  }

  peek(): T | undefined {
    return this.items[0];
  }

  /** In no particular order. */
  values(): readonly T[] {
    return this.items;
  }

  /** Adds the item, or puts it in the place of the one with its key. */
  set(item: T): void {
    const key = this.keyOf(item);
    const place = this.places.get(key) ?? this.items.length;
    this.put(item, place);
    this.restore(place);
  }

  pop(): T | undefined {
    const first = this.items[0];
    if (first !== undefined) this.delete(this.keyOf(first));
    return first;
  }

  delete(key: string): T | undefined {
    const place = this.places.get(key);
    if (place === undefined) return undefined;
    const item = this.items[place];
    const last = this.items.pop();
    this.places.delete(key);
    if (last !== undefined && place < this.items.length) {
      this.put(last, place);
      this.restore(place);
    }
    return item;
  }

  private put(item: T, place: number): void {
    this.items[place] = item;
    this.places.set(this.keyOf(item), place);
  }

  private restore(place: number): void {
    this.sink(this.rise(place));
  }

  private rise(from: number): number {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.goesBefore(place, parent)) break;
      this.swap(place, parent);
      place = parent;
    }
    return place;
  }

  private sink(from: number): void {
    for (let place = from; ;) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let first = place;
      if (this.goesBefore(left, first)) first = left;
      if (this.goesBefore(right, first)) first = right;
      if (first === place) return;
      this.swap(place, first);
      place = first;
    }
  }

  private goesBefore(place: number, other: number): boolean {
    const [one, two] = [this.items[place], this.items[other]];
    return one !== undefined && two !== undefined && this.less(one, two);
  }

  private swap(place: number, other: number): void {
    const [one, two] = [this.items[place], this.items[other]];
    if (one === undefined || two === undefined) return;
    this.put(two, place);
    this.put(one, other);
  }
}
