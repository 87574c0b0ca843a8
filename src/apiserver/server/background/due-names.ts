import type { Clock } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

interface DueNamesOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Between the first failure of a name and its next look, milliseconds; doubled by each further failure. */
  readonly retryMs: number;
  look(this: void, name: string, signal: AbortSignal): Promise<void>;
  /** Called with the error; returns whether a retry may help. */
  failed(this: void, name: string, error: unknown): boolean;
}

/** The longest time between a failure and the next look at the same name. */
export const LONGEST_PAUSE_MS = 60_000;

/** A queue of names of objects to process: one after another, each once however often it is added in the meantime. */
export class DueNames {
  private readonly due = new Set<string>();
  /** Consecutive failures, by name. */
  private readonly failures = new Map<string, number>();
  private wake: (() => void) | undefined;

  constructor(private readonly options: DueNamesOptions) {}

  add(name: string): void {
    this.due.add(name);
    this.wake?.();
  }

  /** Works until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wake?.(), { once: true });
    while (!signal.aborted) {
      const [name] = this.due;
      if (name === undefined) await new Promise<void>((resolve) => (this.wake = resolve));
      else await this.attempt(name, signal);
    }
  }

  private async attempt(name: string, signal: AbortSignal): Promise<void> {
    const { failed, look } = this.options;
    this.due.delete(name);
    try {
      await look(name, signal);
      this.failures.delete(name);
    } catch (error) {
      if (failed(name, error)) this.retryLater(name, signal);
      else this.failures.delete(name);
    }
  }

  /** The others do not wait for it. */
  private retryLater(name: string, signal: AbortSignal): void {
    const { clock, retryMs } = this.options;
    const failures = this.failures.get(name) ?? 0;
    this.failures.set(name, failures + 1);
    const pauseMs = doublingDelayMs(failures, { firstMs: retryMs, longestMs: LONGEST_PAUSE_MS });
    void clock.sleep(pauseMs, signal).then(
      () => this.add(name),
      () => undefined,
    );
  }
}
