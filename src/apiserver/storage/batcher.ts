import { atEndOfTurn } from '@rollkeeper/machinery/clock';

interface BatcherOptions<Item, Outcome> {
  /**
   * Carries a batch out: one outcome for each item, in their order; an `Error` is the failure of that item alone. A
   * rejection fails the whole batch, and everything that waits behind it.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>;
  readonly maxItems: number;
  /** The longest batch, as `lengthOf` measures its items; an item that is longer is a batch of its own. */
  readonly maxLength: number;
  readonly lengthOf: (item: Item) => number;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines concurrent requests into one command. One batch is in flight at a time, and requests in the meantime form
 * the next: a single item waits for nothing, and the more there are, the less each costs.
 */
export class Batcher<Item, Outcome> {
  private waiting: Waiting<Item, Outcome>[] = [];
  private isBusy = false;

  constructor(private readonly options: BatcherOptions<Item, Outcome>) {}

  /** Items of one batch, and of successive ones, are carried out in the order of their adding. */
  add(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.isBusy) this.begin();
    });
  }

  private begin(): void {
    this.isBusy = true;
    atEndOfTurn(() => void this.runNext());
  }

  private async runNext(): Promise<void> {
    const batch = this.takeBatch();
    try {
      const outcomes = await this.options.run(batch.map(({ item }) => item));
      batch.forEach(({ reject, resolve }, index) => {
        const outcome = outcomes[index];
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome as Outcome);
      });
    } catch (error) {
      // The waiting writes would meet the same fault one batch after the other, each after its own time-out.
      for (const { reject } of [...batch, ...this.waiting.splice(0)]) reject(error);
    }
    this.isBusy = false;
    if (this.waiting.length > 0) this.begin();
  }

  private takeBatch(): readonly Waiting<Item, Outcome>[] {
    const { lengthOf, maxItems, maxLength } = this.options;
    let count = 0;
    for (let length = 0; count < this.waiting.length && count < maxItems; count++) {
      length += lengthOf(this.waiting[count]!.item);
      if (count > 0 && length > maxLength) break;
    }
    if (count === this.waiting.length) {
      const all = this.waiting;
      this.waiting = [];
      return all;
    }
    return this.waiting.splice(0, count);
  }
}
