import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';

type Callback = (...args: unknown[]) => void;

/** The timer that the global functions return, with the methods that libraries call on it. */
class OwnTimer {
  private handle: TimerHandle | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly run: () => void,
    private readonly delayMs: number,
    private readonly repeats: boolean,
  ) {
    this.arm();
  }

  cancel(): void {
    this.handle?.cancel();
    this.handle = undefined;
  }

  close(): this {
    this.cancel();
    return this;
  }

  refresh(): this {
    this.cancel();
    this.arm();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  private arm(): void {
    this.handle = this.clock.setTimeout(() => {
      this.handle = undefined;
      if (this.repeats) this.arm();
      this.run();
    }, this.delayMs);
  }
}

/**
 * Gives this process the time of a clock: the timers of the platform, `Date` and `performance.now()` become those of the clock, for
 * libraries that know no other. `setImmediate` and `process.nextTick` stay, because they know no time.
 *
 * A clock that itself rests on the platform cannot be given. Only for a process that runs nothing else meanwhile.
 * @returns gives the platform's time back
 */
export function ownTimers(clock: Clock): () => void {
  const { Date: SystemDate, clearInterval, clearTimeout, setInterval, setTimeout } = globalThis;
  const systemNow = performance.now.bind(performance);
  const begin =
    (repeats: boolean) =>
    (callback: Callback, delayMs?: number, ...args: unknown[]): OwnTimer =>
      // As the platform has it: no delay below a millisecond.
      new OwnTimer(clock, () => callback(...args), Math.max(Number(delayMs) || 0, 1), repeats);
  const end = (timer: unknown): void => {
    if (timer instanceof OwnTimer) timer.cancel();
    else clearTimeout(timer as NodeJS.Timeout);
  };
  Object.assign(globalThis, {
    setTimeout: begin(false),
    setInterval: begin(true),
    clearTimeout: end,
    clearInterval: end,
    Date: dateOf(clock, SystemDate),
  });
  performance.now = () => clock.monotonicNow();
  return () => {
    Object.assign(globalThis, { Date: SystemDate, clearInterval, clearTimeout, setInterval, setTimeout });
    performance.now = systemNow;
  };
}

function dateOf(clock: Clock, SystemDate: DateConstructor): DateConstructor {
  return new Proxy(SystemDate, {
    construct: (target, args, newTarget): Date =>
      Reflect.construct(target, args.length === 0 ? [Math.floor(clock.now())] : args, newTarget) as Date,
    get: (target, property): unknown =>
      property === 'now' ? () => Math.floor(clock.now()) : Reflect.get(target, property),
  });
}
