/**
 * How many probes are open at once, in all and of one namespace: pods that do not answer must not keep those of other
 * namespaces waiting.
 */
export class ProbeSlots {
  private readonly open = new Map<string, number>();
  private all = 0;

  constructor(
    private readonly mostInAll: number,
    private readonly mostOfNamespace: number,
  ) {}

  /** Runs the probe; undefined, without it, if there is no slot. */
  async run<T>(namespace: string, probe: () => Promise<T>): Promise<T | undefined> {
    const before = this.open.get(namespace) ?? 0;
    if (this.all >= this.mostInAll || before >= this.mostOfNamespace) return undefined;
    this.all += 1;
    this.open.set(namespace, before + 1);
    try {
      return await probe();
    } finally {
      this.all -= 1;
      const left = (this.open.get(namespace) ?? 1) - 1;
      if (left > 0) this.open.set(namespace, left);
      else this.open.delete(namespace);
    }
  }
}
