import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { isCurrent, mayBegin, refusedBy } from '../work-queue/term-fence.js';
import type { LeaderTerm } from '../work-queue/work-queue.js';
import type { AssignedSlot, SlotAssigner, SlotChange, SlotReport, SlotTable } from './slot-table.js';
import { NO_REPLICA } from './slot-table.js';

/** The {@link SlotTable} of the replicas of one process. */
export class MemorySlotTable implements SlotTable {
  private slots: readonly AssignedSlot[] = [];
  private term: LeaderTerm | undefined;
  private readonly wakes = new Set<() => void>();
  private readonly memberWakes = new Set<() => void>();
  private readonly reports = new Map<string, SlotReport>();
  private reported = 0;

  async begin(term: LeaderTerm, count: number): Promise<SlotAssigner> {
    assertCount(count);
    if (!mayBegin(this.term, term)) throw refusedBy(this.term);
    if (this.slots.length > 0 && this.slots.length !== count) throw otherCount(this.slots.length);
    if (this.slots.length === 0)
      this.slots = Array.from({ length: count }, () => ({
        owner: NO_REPLICA,
        standby: NO_REPLICA,
        epoch: 0,
      }));
    this.term = term;
    return { slots: this.slots, assign: async (changes) => this.assign(term, changes) };
  }

  async read(): Promise<readonly AssignedSlot[]> {
    return this.slots;
  }

  onChanged(wake: () => void): () => void {
    this.wakes.add(wake);
    return () => this.wakes.delete(wake);
  }

  async report(replica: string, current: readonly number[]): Promise<void> {
    const before = this.reports.get(replica);
    this.reports.set(replica, { replica, current: [...current], id: String(++this.reported), ageMs: 0 });
    if (before?.current.join() !== current.join()) this.wakeMembers();
  }

  async leave(replica: string): Promise<void> {
    if (this.reports.delete(replica)) this.wakeMembers();
  }

  async members(): Promise<readonly SlotReport[]> {
    return [...this.reports.values()];
  }

  async forget({ id, replica }: Pick<SlotReport, 'id' | 'replica'>): Promise<void> {
    if (this.reports.get(replica)?.id === id) this.reports.delete(replica);
  }

  onMembers(wake: () => void): () => void {
    this.memberWakes.add(wake);
    return () => this.memberWakes.delete(wake);
  }

  /** The process of a replica dies, which is seen at once. */
  dies(replica: string): void {
    this.reports.delete(replica);
  }

  close(): void {
    this.wakes.clear();
    this.memberWakes.clear();
  }

  private wakeMembers(): void {
    for (const wake of [...this.memberWakes]) wake();
  }

  /** The term and the newest changes are lost, as in a Redis that restarts with an older state. */
  loseData(slots: readonly AssignedSlot[] = []): void {
    this.slots = slots;
    this.term = undefined;
  }

  private assign(term: LeaderTerm, changes: readonly SlotChange[]): readonly AssignedSlot[] {
    if (!isCurrent(this.term, term)) throw refusedBy(this.term);
    if (changes.length === 0) return this.slots;
    const next = [...this.slots];
    for (const { owner, slot, standby } of changes) {
      const before = this.slots[slot];
      if (!before) throw new RangeError(`there is no slot ${slot}`);
      const epoch = before.owner === owner ? before.epoch : before.epoch + 1;
      next[slot] = { owner, standby, epoch };
    }
    this.slots = next;
    for (const wake of [...this.wakes]) wake();
    return next;
  }
}

/** @throws InvalidOptionError */
export function assertCount(count: number): void {
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidOptionError('slots', 'must be a whole number from 1 on');
}

/** The refusal of another number of slots than there is. */
export function otherCount(count: number): InvalidOptionError {
  return new InvalidOptionError('slots', `must be ${count}, the number with which this installation began`);
}
