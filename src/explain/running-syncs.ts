import type { Clock } from '../clock/index.js';

/** A key that this replica works on at this moment. */
export interface RunningSync {
  readonly controller: string;
  readonly key: string;
  /** Epoch milliseconds. */
  readonly sinceMs: number;
}

/** What one replica works on. */
export class RunningSyncs {
  private readonly syncs = new Set<RunningSync>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Returns the function that ends it. */
  start(controller: string, key: string): () => void {
    const sync = { controller, key, sinceMs: this.clock.now() };
    this.syncs.add(sync);
    return () => void this.syncs.delete(sync);
  }

  list(): readonly RunningSync[] {
    return [...this.syncs];
  }
}
