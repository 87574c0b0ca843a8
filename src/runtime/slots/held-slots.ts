import { shardHash, shardIndexOf } from '@rollkeeper/machinery/kubernetes';

/** Is notified of the slots of this replica, at once. Never waits, never throws. */
export interface SlotListener {
  /** This replica owns these from now on, and its copies are current: it has to add every key of them. */
  begun(slots: ReadonlySet<number>): void;
  /** It does not own these any more. */
  ended(slots: ReadonlySet<number>): void;
}

/** The namespaces whose slots are remembered. */
const REMEMBERED = 10_000;

/**
 * The slots on whose keys this replica works. A slot begins once the replica owns it and its copy is current. After its end no run of its
 * keys begins; a run in progress goes on, guarded by the lock of its key, and until it has ended its slot is {@link inUse}, because
 * a run must never see its objects vanish.
 */
export class HeldSlots {
  private readonly epochs = new Map<number, number>();
  private readonly runs = new Map<number, number>();
  private readonly listeners = new Set<SlotListener>();
  private readonly known = new Map<string, number>();
  private beginning: ReadonlySet<number> | undefined;
  private idle: () => void = () => undefined;

  /** @param count the number of slots of the installation */
  constructor(readonly count: number) {}

  /** The slot of a namespace. */
  slotOf(namespace = ''): number {
    const known = this.known.get(namespace);
    if (known !== undefined) return known;
    const slot = shardIndexOf(shardHash(namespace), this.count);
    if (this.known.size >= REMEMBERED) this.known.clear();
    this.known.set(namespace, slot);
    return slot;
  }

  /** Whether this replica works on the keys of a namespace. */
  owns(namespace: string | undefined): boolean {
    return this.epochs.has(this.slotOf(namespace));
  }

  /**
   * Whether this replica reports the objects of a namespace in Events and metrics: it owns them, or still runs one of their keys. While
   * slots begin, it reports only objects whose keys run, because the former owner has reported the others.
   */
  tellsOf(namespace: string | undefined): boolean {
    const slot = this.slotOf(namespace);
    if (this.beginning) return this.beginning.has(slot);
    return this.epochs.has(slot) || this.runs.has(slot);
  }

  /** The slots that have begun and not ended. */
  get begun(): ReadonlySet<number> {
    return new Set(this.epochs.keys());
  }

  /** The slots with a run in progress. */
  get inUse(): ReadonlySet<number> {
    return new Set(this.runs.keys());
  }

  /** Begins slots, by their epochs. One that has begun already with that epoch goes on. */
  begin(epochs: ReadonlyMap<number, number>): void {
    const begun = new Set<number>();
    for (const [slot, epoch] of epochs) {
      if (this.epochs.get(slot) === epoch) continue;
      this.epochs.set(slot, epoch);
      begun.add(slot);
    }
    if (begun.size === 0) return;
    this.beginning = begun;
    for (const listener of [...this.listeners]) listener.begun(begun);
    this.beginning = undefined;
  }

  /** Ends all slots but these, by their epochs. */
  endOthers(epochs: ReadonlyMap<number, number>): void {
    const ended = new Set(
      [...this.epochs].flatMap(([slot, epoch]) => (epochs.get(slot) === epoch ? [] : [slot])),
    );
    if (ended.size === 0) return;
    for (const slot of ended) this.epochs.delete(slot);
    for (const listener of [...this.listeners]) listener.ended(ended);
  }

  /** Runs the work on a key of a namespace, unless this replica does not own its slot. */
  async run(namespace: string | undefined, work: () => Promise<void>): Promise<void> {
    const slot = this.slotOf(namespace);
    if (!this.epochs.has(slot)) return;
    this.runs.set(slot, (this.runs.get(slot) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = (this.runs.get(slot) ?? 1) - 1;
      if (left > 0) this.runs.set(slot, left);
      else this.runs.delete(slot);
      if (left === 0 && !this.epochs.has(slot)) this.idle();
    }
  }

  /** Calls when the last run of a slot has ended that this replica does not own any more. One at a time. */
  onIdle(idle: () => void): void {
    this.idle = idle;
  }

  /** Tells `listener` from now on. Returns a function that ends that. */
  listen(listener: SlotListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
