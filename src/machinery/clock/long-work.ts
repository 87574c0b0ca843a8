import type { Clock } from './clock.js';
import { nextTurn } from './turns.js';

/** Work in pieces: after each `yield`, others may run. */
export type Pieces<R> = Generator<void, R, void>;

/** Pieces that take less altogether are not worth a turn of the event loop. Milliseconds. */
const PIECE_MS = 10;

/** Runs all pieces without a pause. */
export function atOnce<R>(pieces: Pieces<R>): R {
  for (;;) {
    const piece = pieces.next();
    if (piece.done) return piece.value;
  }
}

/**
 * The work of one request on a thread that serves others as well. Between its pieces it yields to the event loop whenever
 * 10 ms have passed since it began or yielded last, so that others wait for one piece, and not for all of it.
 */
export class LongWork {
  private sinceMs: number;

  constructor(private readonly clock: Pick<Clock, 'monotonicNow'>) {
    this.sinceMs = clock.monotonicNow();
  }

  /** The end of a piece. */
  async giveWay(): Promise<void> {
    if (this.clock.monotonicNow() - this.sinceMs < PIECE_MS) return;
    await nextTurn();
    this.sinceMs = this.clock.monotonicNow();
  }

  async run<R>(pieces: Pieces<R>): Promise<R> {
    for (;;) {
      const piece = pieces.next();
      if (piece.done) return piece.value;
      await this.giveWay();
    }
  }
}
