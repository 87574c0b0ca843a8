import type { Clock } from '../clock/index.js';

/** When a call that still runs gives its place to the next. */
export interface GiveWay {
  readonly afterMs: number;
  readonly clock: Pick<Clock, 'setTimeout'>;
}

/**
 * Lets at most `limit` calls run at once; the others wait their turn. A burst of calls (an initial list) would
 * otherwise all be sent at once, and the last ones would time out while the first are answered.
 */
export class ConcurrencyLimit {
  private running = 0;
  /** By rank. */
  private readonly waiting: ((() => void)[] | undefined)[] = [];

  /** @param giveWay so that calls which hang do not keep all the others from being made. @default never */
  constructor(
    private readonly limit: number,
    private readonly giveWay?: GiveWay,
  ) {}

  /** @param rank a small whole number; of those that wait, the smallest has its turn first */
  async run<T>(call: () => Promise<T>, rank = 0): Promise<T> {
    if (this.running >= this.limit)
      await new Promise<void>((resolve) => (this.waiting[rank] ??= []).push(resolve));
    else this.running += 1;
    const leave = this.leaveOnce();
    const timer = this.giveWay?.clock.setTimeout(leave, this.giveWay.afterMs);
    try {
      return await call();
    } finally {
      timer?.cancel();
      leave();
    }
  }

  private leaveOnce(): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      // A turn is handed on as it is, so that nobody who comes now gets in between.
      const next = this.waiting.find((rankOf) => rankOf && rankOf.length > 0)?.shift();
      if (next) next();
      else this.running -= 1;
    };
  }
}
