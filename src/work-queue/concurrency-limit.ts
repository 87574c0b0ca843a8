/**
 * Lets at most `limit` calls run at once; the others wait their turn. A burst of adds (an initial list) would
 * otherwise all be sent at once, and the last ones would time out while the first are answered.
 */
export class ConcurrencyLimit {
  private running = 0;
  /** By rank. */
  private readonly waiting: (() => void)[][] = [];

  constructor(private readonly limit: number) {}

  /** @param rank a small whole number; of those that wait, the smallest has its turn first */
  async run<T>(call: () => Promise<T>, rank = 0): Promise<T> {
    if (this.running >= this.limit)
      await new Promise<void>((resolve) => (this.waiting[rank] ??= []).push(resolve));
    else this.running += 1;
    try {
      return await call();
    } finally {
      // A turn is handed on as it is, so that nobody who comes now gets in between.
      const next = this.waiting.find((rankOf) => rankOf && rankOf.length > 0)?.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
