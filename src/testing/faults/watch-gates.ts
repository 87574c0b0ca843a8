import { abortable } from '@rollkeeper/machinery/cancellation';
import type { RequestMatch, SeenRequest } from './request-match.js';
import { isMatch } from './request-match.js';

/** Watches of these, of those that there are and of those to come. */
export type WatchMatch = Pick<RequestMatch, 'resource' | 'namespace'>;

/** Something that lasts until it is released. */
export interface Held {
  release(): void;
}

class Gate implements Held {
  readonly released: Promise<void>;
  release: () => void = () => undefined;

  constructor(readonly match: WatchMatch) {
    this.released = new Promise((resolve) => (this.release = resolve));
  }
}

/** The watches that show nothing new for now, and those that show it late. */
export class WatchGates {
  private readonly holds = new Set<Gate>();
  private readonly delays = new Set<{ readonly match: WatchMatch; readonly delayMs: number }>();

  hold(match: WatchMatch): Held {
    const gate = new Gate(match);
    this.holds.add(gate);
    void gate.released.then(() => this.holds.delete(gate));
    return gate;
  }

  delay(match: WatchMatch, delayMs: number): Held {
    const delay = { match, delayMs };
    this.delays.add(delay);
    return { release: () => void this.delays.delete(delay) };
  }

  clear(): void {
    for (const gate of this.holds) gate.release();
    this.delays.clear();
  }

  /** How late an event of that watch is, milliseconds. */
  delayOf(watch: SeenRequest): number {
    return Math.max(
      0,
      ...[...this.delays].filter(({ match }) => isMatch(match, watch)).map((each) => each.delayMs),
    );
  }

  isHeld(watch: SeenRequest): boolean {
    return [...this.holds].some(({ match }) => isMatch(match, watch));
  }

  /** Resolves once nothing holds that watch. Rejects with the signal's reason. */
  async untilOpen(watch: SeenRequest, signal: AbortSignal): Promise<void> {
    for (let gate = this.gateOf(watch); gate; gate = this.gateOf(watch)) {
      await abortable(gate.released, signal);
      this.holds.delete(gate);
    }
  }

  private gateOf(watch: SeenRequest): Gate | undefined {
    return [...this.holds].find(({ match }) => isMatch(match, watch));
  }
}
