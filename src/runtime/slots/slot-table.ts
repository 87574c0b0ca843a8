import type { LeaderTerm } from '../work-queue/work-queue.js';

/** In place of the identity of a replica, where there is none. */
export const NO_REPLICA = '';

/** The replicas that hold a slot, by their identities; {@link NO_REPLICA} for none. */
export interface SlotHolders {
  /** Adds the keys of the slot to the queues. */
  readonly owner: string;
  /** Keeps the same copy of the slot's objects, for the moment at which the owner is gone. */
  readonly standby: string;
}

/** A slot and its holders. */
export interface AssignedSlot extends SlotHolders {
  /** Grows with each change of the owner; 0: the slot never had one. */
  readonly epoch: number;
}

/** A change of the holders of one slot. */
export interface SlotChange extends SlotHolders {
  readonly slot: number;
}

/** How often a replica reports, also if nothing has changed. */
export const MEMBER_REPORTS_EVERY_MS = 5000;
/** A replica of which the leader has seen no new report for so long counts as dead, however it is connected: it hangs. */
export const MEMBER_LIVES_MS = 15_000;

/** A replica that takes slots, as it has reported. */
export interface SlotMember {
  readonly replica: string;
  /** The slots whose copy there shows what the server has. */
  readonly current: readonly number[];
}

/** The last report of a replica. */
export interface SlotReport extends SlotMember {
  /** Each report of a replica has another one. */
  readonly id: string;
  /**
   * How long ago the report came by the clock of the store, milliseconds. That clock may jump in both directions, so this may be negative, and
   * decides nothing alone.
   */
  readonly ageMs: number;
}

/** The assignments of one term of one leader. Both methods throw SupersededError once another term has begun, without any effect. */
export interface SlotAssigner {
  /** The slots when the term began, by their number. */
  readonly slots: readonly AssignedSlot[];
  /**
   * Makes all changes in one step, and wakes those who wait for changes. Without changes it only shows whether the term still
   * counts.
   * @returns all slots after it, as the store has them
   */
  assign(changes: readonly SlotChange[]): Promise<readonly AssignedSlot[]>;
}

/**
 * The home of the assignments of slots, shared by all replicas. A slot is a range of the hashes of namespaces; their number is fixed
 * by the first term.
 *
 * 1. Only the term that began last assigns. The same checks as those of a queue's terms apply: no older epoch, and no other holder of
 *    the same epoch.
 * 2. The epoch of a slot grows with each change of its owner, and with nothing else.
 * 3. Changes are made all together or not at all; made once more, they change nothing.
 *
 * All methods reject if the store does not answer; callers retry.
 */
export interface SlotTable {
  /**
   * Makes `term` the one that assigns. May be repeated.
   * @param count the number of slots, at least 1
   * @throws SupersededError if a newer term, or the same epoch of another holder, has begun
   * @throws InvalidOptionError if there are slots already, of another number
   */
  begin(term: LeaderTerm, count: number): Promise<SlotAssigner>;
  /** All slots, by their number; none before the first term. */
  read(): Promise<readonly AssignedSlot[]>;
  /** Calls `wake` after changes, and whenever some may have been missed. Returns the unsubscribe. */
  onChanged(wake: () => void): () => void;
  /**
   * Makes this process visible as a replica that takes slots, until {@link leave} or its end. Repeated to report other slots, and as a
   * sign of life every `MEMBER_REPORTS_EVERY_MS`.
   * @param replica unique to one life of one process
   * @param current the slots whose copy here shows what the server has
   */
  report(replica: string, current: readonly number[]): Promise<void>;
  /** This replica takes no slots any more. */
  leave(replica: string): Promise<void>;
  /**
   * The last reports of the replicas that take slots: each has reported, has not left, and its connection stands, or cannot be seen. The caller
   * judges whether the reports go on (`decideMembers`).
   */
  members(): Promise<readonly SlotReport[]>;
  /** Removes a replica that reports no more, unless it has reported since. */
  forget(report: Pick<SlotReport, 'id' | 'replica'>): Promise<void>;
  /** Calls `wake` after reports that say something new, and after a replica left. Returns the unsubscribe. */
  onMembers(wake: () => void): () => void;
  /** Closes the connections. */
  close(): void;
}
