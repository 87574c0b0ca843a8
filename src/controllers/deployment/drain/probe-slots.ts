/** Until there may be a slot for a probe, milliseconds; doubles up to 16 times as long. */
export const NO_SLOT_MS = 1000;

/**
 * How many probes are open at once, in all and of one namespace: pods that do not answer must not keep those of other
 * namespaces waiting.
 */
export class ProbeSlots {
  private readonly open = new Map<string, number>();
  /** How often in a row there was no slot for a pod, by its key. */
  private readonly refused = new Map<string, number>();
  private all = 0;

  constructor(
    private readonly mostInAll: number,
    private readonly mostOfNamespace: number,
  ) {}

  /**
   * The time that a pod without a slot waits until it looks again, milliseconds. Thousands that wait cost no request, and look ever
   * more rarely. Undefined: there is a slot.
   */
  waitOf(key: string, namespace = ''): number | undefined {
    if (this.isFree(namespace)) {
      this.refused.delete(key);
      return undefined;
    }
    const count = this.refused.get(key) ?? 0;
    this.refused.set(key, count + 1);
    return NO_SLOT_MS * 2 ** Math.min(count, 4);
  }

  /** The pod drains no more. */
  forget(key: string): void {
    this.refused.delete(key);
  }

  /** Runs the probe; undefined, without it, if there is no slot. */
  async run<T>(namespace: string, probe: () => Promise<T>): Promise<T | undefined> {
    if (!this.isFree(namespace)) return undefined;
    this.all += 1;
    this.open.set(namespace, (this.open.get(namespace) ?? 0) + 1);
    try {
      return await probe();
    } finally {
      this.all -= 1;
      const left = (this.open.get(namespace) ?? 1) - 1;
      if (left > 0) this.open.set(namespace, left);
      else this.open.delete(namespace);
    }
  }

  private isFree(namespace: string): boolean {
    return this.all < this.mostInAll && (this.open.get(namespace) ?? 0) < this.mostOfNamespace;
  }
}
