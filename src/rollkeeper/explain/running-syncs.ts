import type { Clock } from '@rollkeeper/machinery/clock';

/** A key that this replica works on at this moment. */
export interface RunningSync {
  readonly controller: string;
  readonly key: string;
  /** Epoch milliseconds. */
  readonly sinceMs: number;
  /** When it had taken too long and was told to end, epoch milliseconds. */
  readonly overdueSinceMs?: number;
}

/** One sync, for whoever runs it. */
export interface RunningSyncHandle {
  overdue(): void;
  end(): void;
}

/** What one replica works on. Syncs that do not end when they are told to stay in it. */
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
