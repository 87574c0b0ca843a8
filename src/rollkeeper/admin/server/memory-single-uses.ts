import type { Clock } from '@rollkeeper/machinery/clock';
import { ExpiringMap } from '@rollkeeper/machinery/clock';
import type { SingleUses } from './admin-ports.js';

/** Values that may be used once, for a replica that shares no Redis with others. */
export class MemorySingleUses implements SingleUses {
  private readonly used: ExpiringMap<true>;

  /** @param longestMs as long as anything is remembered, milliseconds */
  constructor(clock: Pick<Clock, 'monotonicNow'>, longestMs: number) {
    this.used = new ExpiringMap(() => clock.monotonicNow(), longestMs);
  }

  async isFirst(digest: string, rememberedMs: number): Promise<boolean> {
    if (this.used.get(digest)) return false;
    this.used.set(digest, true, rememberedMs);
    return true;
  }
}
