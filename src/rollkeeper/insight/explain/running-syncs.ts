import type { Clock } from '@rollkeeper/machinery/clock';

/** A key that this replica is processing. */
export interface RunningSync {
  readonly controller: string;
  readonly key: string;
  /** Epoch milliseconds. */
  readonly sinceMs: number;
  /** When it exceeded its time limit and was cancelled, epoch milliseconds. */
  readonly overdueSinceMs?: number;
}

/** Handle of one running sync. */
export interface RunningSyncHandle {
  overdue(): void;
  end(): void;
}

/** The syncs running on one replica. Includes cancelled ones until they end. */
export class RunningSyncs {
  private readonly syncs = new Map<symbol, RunningSync>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  start(controller: string, key: string): RunningSyncHandle {
    const id = Symbol('sync');
    const sync = { controller, key, sinceMs: this.clock.now() };
    this.syncs.set(id, sync);
    return {
      overdue: () => void this.syncs.set(id, { ...sync, overdueSinceMs: this.clock.now() }),
      end: () => void this.syncs.delete(id),
    };
  }

  list(): readonly RunningSync[] {
    return [...this.syncs.values()];
  }
}
