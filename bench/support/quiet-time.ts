import { readFileSync } from 'node:fs';

/** USER_HZ of Linux. */
const TICKS_PER_SECOND = 100;

/**
 * The share of the machine's processors that others have taken between two moments: a figure of wall-clock time that was taken meanwhile says
 * something only where this is small.
 */
export class OthersShare {
  private readonly before: { readonly busy: number; readonly all: number; readonly own: number };

  /** @param ownSeconds CPU seconds of the processes that are measured, and of the benchmark itself: now, since any moment */
  constructor(private readonly ownSeconds: () => number) {
    this.before = this.read();
  }

  /** 0 to 1, since the construction. */
  now(): number {
    const { before } = this;
    const after = this.read();
    const seconds = after.all - before.all;
    if (seconds <= 0) return 0;
    return Math.max(0, (after.busy - before.busy - (after.own - before.own)) / seconds);
  }

  private read(): { readonly busy: number; readonly all: number; readonly own: number } {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const ticks = line.split(/\s+/).slice(1, 9).map(Number);
    const all = ticks.reduce((sum, each) => sum + each, 0);
    const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
    return {
      all: all / TICKS_PER_SECOND,
      busy: (all - idle) / TICKS_PER_SECOND,
      own: this.ownSeconds(),
    };
  }
}
