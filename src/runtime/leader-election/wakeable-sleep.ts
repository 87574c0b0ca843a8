import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';

/** A sleep that a notification can end. A notification without a sleeper ends the next sleep at once. */
export class WakeableSleep {
  private hasNews = false;
  private end: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  wake(): void {
    this.hasNews = true;
    this.end?.();
  }

  /** Whether there was a notification since the last sleep or the last call. */
  takeNews(): boolean {
    const { hasNews } = this;
    this.hasNews = false;
    return hasNews;
  }

  /** Returns whether a notification ended it, rather than the time or the signal. Never rejects. */
  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.hasNews && !signal.aborted) {
      const ended = new AbortController();
      this.end = () => ended.abort();
      const stopListening = onAbort(signal, this.end);
      await pause(this.clock, ms, ended.signal);
      stopListening();
      this.end = undefined;
    }
    return this.takeNews();
  }
}
