import type { Clock, RandomSource, TimerHandle } from '@rollkeeper/machinery/clock';
import type { CompletionOwner, Kernel, Pending } from './kernel.js';

/** The wall clock's start: 2026-01-01. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
/** After a pause, what has waited fires within this time, in an order of chance; milliseconds. */
const CATCH_UP_MS = 2;

/** A timer never fires before its time, not by a rounding error either; milliseconds. */
const NEVER_EARLY_MS = 0.001;

/** The options of a {@link SimulatedProcess}. */
export interface ProcessOptions {
  /** Milliseconds of its clock for one of true time. @default 1 */
  readonly rate?: number;
  /** How far its wall clock is ahead, milliseconds. @default 0 */
  readonly wallOffsetMs?: number;
}

/**
 * One operating-system process of a simulation: a clock of its own, a source of chance of its own, and all completions
 * that would run in it. It can be paused (SIGSTOP, a suspended machine) and killed.
 */
export class SimulatedProcess implements CompletionOwner {
  state: CompletionOwner['state'] = 'running';
  readonly clock: ProcessClock;
  readonly random: RandomSource;
  private held: (() => void)[] = [];
  private readonly atEnd = new Set<() => void>();

  /** @param name unique to this life of the process */
  constructor(
    readonly kernel: Kernel,
    readonly name: string,
    options: ProcessOptions = {},
  ) {
    this.random = kernel.randomOf(name);
    this.clock = new ProcessClock(this, options);
  }

  get isAlive(): boolean {
    return this.state !== 'dead';
  }

  /** Fires in this process after so much true time: late if it is paused then, never if it is dead. */
  after(delayMs: number, run: () => void): Pending {
    return this.kernel.after(delayMs, run, this);
  }

  hold(fire: () => void): void {
    this.held.push(fire);
  }

  /** Stops everything in it, and nothing of what it has sent. */
  pause(): void {
    if (this.state === 'running') this.state = 'paused';
  }

  /** All that has waited happens now. */
  resume(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    const { held, kernel } = this;
    this.held = [];
    for (const fire of held) this.after(kernel.random.next() * CATCH_UP_MS, fire);
  }

  /** Nothing of it ever runs again. What it has sent may still arrive. */
  kill(): void {
    if (this.state === 'dead') return;
    this.state = 'dead';
    this.held = [];
    for (const end of [...this.atEnd]) end();
  }

  /** Calls back when it is killed, as the kernel closes its connections. Returns the unsubscribe. */
  onKilled(end: () => void): () => void {
    this.atEnd.add(end);
    return () => void this.atEnd.delete(end);
  }
}

/** The {@link Clock} of one process: it drifts, and its wall clock jumps. */
export class ProcessClock implements Clock {
  /** Timers that have neither fired nor been cancelled. A part that has stopped must have left none. */
  pendingTimers = 0;
  private wallOffsetMs: number;
  private readonly rate: number;

  constructor(
    private readonly process: SimulatedProcess,
    { rate = 1, wallOffsetMs = 0 }: ProcessOptions,
  ) {
    this.rate = rate;
    this.wallOffsetMs = wallOffsetMs;
  }

  now(): number {
    return Math.floor(EPOCH_MS + this.wallOffsetMs + this.monotonicNow());
  }

  monotonicNow(): number {
    return this.process.kernel.nowMs * this.rate;
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const { process } = this;
    this.pendingTimers += 1;
    let isPending = true;
    const end = (): void => {
      if (isPending) this.pendingTimers -= 1;
      isPending = false;
    };
    const pending = process.after(Math.max(delayMs, 0) / this.rate + NEVER_EARLY_MS, () => {
      if (!isPending) return;
      end();
      process.kernel.note(process.name, process.name, 'timer');
      callback();
    });
    return {
      cancel: () => {
        end();
        pending.cancel();
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        timer.cancel();
        reject(signal?.reason as Error);
      };
      const timer = this.setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** As an administrator or NTP does: durations stay what they are. */
  jumpWallClock(ms: number): void {
    this.wallOffsetMs += ms;
  }
}
