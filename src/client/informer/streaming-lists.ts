import type { Clock } from '@rollkeeper/machinery/clock';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';

/** A server that did not stream lists is asked again after this time: it may have been upgraded. */
const REFUSAL_HOLDS_MS = 3_600_000;

/**
 * Remembers which servers do not stream lists. Shared by all informers of a process. Tracked per API group, because
 * each may be served by another server (aggregation).
 */
export class StreamingLists {
  private readonly refusedAtMs = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  isWorthAsking({ group }: ResourceType): boolean {
    const refusedAtMs = this.refusedAtMs.get(group);
    return refusedAtMs === undefined || this.clock.monotonicNow() - refusedAtMs >= REFUSAL_HOLDS_MS;
  }

  refused({ group }: ResourceType): void {
    this.refusedAtMs.set(group, this.clock.monotonicNow());
  }
}
