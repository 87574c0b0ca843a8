import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/** The default of {@link SlotLimits.firstWaitMs}. */
export const NO_SLOT_MS = 1000;

/** How much may be open at once. */
export interface SlotLimits {
  readonly inAll: number;
  readonly ofNamespace: number;
  /** Until there may be a slot, milliseconds; doubles up to 16 times as long. @default NO_SLOT_MS */
  readonly firstWaitMs?: number;
}

/**
 * Limits the requests to addresses of users that are open at once, in all and of one namespace: those that are not answered must not keep
 * other namespaces waiting.
 */
export class NamespaceSlots {
  private readonly open = new Map<string, number>();
  /** How often in a row there was no slot for an object, by its key. */
  private readonly refused = new Map<string, number>();
  private all = 0;

  constructor(private readonly limits: SlotLimits) {}

  /**
   * The time that an object without a slot waits until it looks again, milliseconds. Thousands that wait cost no request, and look ever
   * more rarely. Undefined: there is a slot.
   */
  waitOf(key: string, namespace = ''): number | undefined {
    if (this.isFree(namespace)) {
      this.refused.delete(key);
      return undefined;
    }
    const count = this.refused.get(key) ?? 0;
    this.refused.set(key, count + 1);
    const { firstWaitMs: firstMs = NO_SLOT_MS } = this.limits;
    return doublingDelayMs(count, { firstMs, longestMs: 16 * firstMs });
  }

  /** The object waits no more. */
  forget(key: string): void {
    this.refused.delete(key);
  }

  /** Runs the request; undefined, without it, if there is no slot. */
  async run<T>(namespace: string, request: () => Promise<T>): Promise<T | undefined> {
    if (!this.isFree(namespace)) return undefined;
    this.all += 1;
    this.open.set(namespace, (this.open.get(namespace) ?? 0) + 1);
    try {
      return await request();
    } finally {
      this.all -= 1;
      const left = (this.open.get(namespace) ?? 1) - 1;
      if (left > 0) this.open.set(namespace, left);
      else this.open.delete(namespace);
      // All find a slot now: objects that were deleted while they waited are not remembered.
      if (this.all === 0) this.refused.clear();
    }
  }

  private isFree(namespace: string): boolean {
    const { inAll, ofNamespace } = this.limits;
    return this.all < inAll && (this.open.get(namespace) ?? 0) < ofNamespace;
  }
}
