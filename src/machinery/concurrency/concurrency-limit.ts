import type { Clock } from '../clock/index.js';

/** When a running call frees its slot for the next. */
export interface GiveWay {
  readonly afterMs: number;
  readonly clock: Pick<Clock, 'setTimeout'>;
}

/**
 * Runs at most `limit` calls at once; the others wait. A burst of calls (an initial list) would otherwise be sent all
 * at once, and the last ones would time out while the first are answered.
 */
export class ConcurrencyLimit {
  private running = 0;
  /** By rank. */
  private readonly waiting: ((() => void)[] | undefined)[] = [];

  /** @param giveWay so that hanging calls do not block all the others. @default never */
  constructor(
    private readonly limit: number,
    private readonly giveWay?: GiveWay,
  ) {}

  /** @param rank a small integer; the lowest rank among the waiting runs first */
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
      // The slot is handed over directly, so that a new call cannot take it.
      const next = this.waiting.find((rankOf) => rankOf && rankOf.length > 0)?.shift();
      if (next) next();
      else this.running -= 1;
    };
  }
}
