import { readFileSync } from 'node:fs';
import os from 'node:os';

/** Often enough to tell who stood still, rarely enough not to be what the others wait for. */
const INTERVAL_MS = 250;

/** An observation at one moment; a long time between two of them shows that this process itself stood still. */
interface Sample {
  readonly atMs: number;
  /** How long something was runnable and got no processor, since the machine started; unknown outside Linux. */
  readonly starvedMs: number | undefined;
  readonly load: number;
  /** The result of `look`, and how long it took. */
  readonly seen: string;
  readonly tookMs: number;
}

/**
 * Looks at what a test watches all the time, so that a pause of it can be explained: by the processes that it watches, by
 * this one, or by a machine that gives none of them a processor.
 */
export class Stillness {
  private readonly samples: Sample[] = [];
  private readonly stopping = new AbortController();
  private looking: Promise<void> | undefined;

  constructor(private readonly look: () => Promise<string>) {}

  start(): void {
    this.looking = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.looking;
  }

  /** @param fromMs,toMs times of `performance.now()` */
  between(fromMs: number, toMs: number): string {
    return this.samples
      .filter(({ atMs, tookMs }) => atMs + tookMs >= fromMs && atMs <= toMs)
      .map(
        ({ atMs, starvedMs, load, seen, tookMs }) =>
          `+${Math.round(atMs - fromMs)} ms: ${seen} (after ${Math.round(tookMs)} ms); load ${load.toFixed(1)}, ` +
          `starved for ${starvedMs === undefined ? '?' : Math.round(starvedMs)} ms in all`,
      )
      .join('\n');
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const atMs = performance.now();
      const starvedMs = starvedForMs();
      const load = os.loadavg()[0] ?? 0;
      const seen = await this.look().catch((error: unknown) => String(error));
      this.samples.push({ atMs, starvedMs, load, seen, tookMs: performance.now() - atMs });
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }
}

/** From Linux's pressure stall information, which counts in microseconds. */
function starvedForMs(): number | undefined {
  try {
    const total = /^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1];
    return total === undefined ? undefined : Number(total) / 1000;
  } catch {
    return undefined;
  }
}
