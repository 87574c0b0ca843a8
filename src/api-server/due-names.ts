import type { Clock } from '../base/clock/index.js';

export interface DueNamesOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Between a failure and whatever comes next, milliseconds. */
  readonly retryMs: number;
  look(this: void, name: string, signal: AbortSignal): Promise<void>;
  /** Told why it failed; says whether to look again, where that may help. */
  failed(this: void, name: string, error: unknown): boolean;
}

/** Objects of one kind that somebody has to look at, by name: one after the other, each once however often it is added meanwhile. */
export class DueNames {
  private readonly due = new Set<string>();
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
    const { clock, failed, look, retryMs } = this.options;
    this.due.delete(name);
    try {
      await look(name, signal);
    } catch (error) {
      if (!failed(name, error)) return;
      this.due.add(name);
      await clock.sleep(retryMs, signal).catch(() => undefined);
    }
  }
}
