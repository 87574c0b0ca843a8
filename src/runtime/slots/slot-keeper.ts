import { abortable, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import { WakeableSleep } from '../leader-election/wakeable-sleep.js';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { HeldSlots } from './held-slots.js';
import type { AssignedSlot, SlotTable } from './slot-table.js';
import { MEMBER_REPORTS_EVERY_MS } from './slot-table.js';

/** The copies of the objects of slots in the caches of this replica. */
export interface SlotCopies {
  /** Keeps the copies of these slots and of no others, from now on. */
  keep(slots: ReadonlySet<number>): void;
  /** Resolves once the copy of a kept slot shows what the server has; rejects with the signal's reason. */
  untilCurrent(slot: number, signal: AbortSignal): Promise<void>;
}

/** The dependencies of {@link SlotKeeper}. */
export interface SlotKeeperDependencies {
  /** This replica in the table; unique to its life. */
  readonly replica: string;
  readonly table: Pick<SlotTable, 'leave' | 'onChanged' | 'read' | 'report'>;
  readonly held: HeldSlots;
  readonly copies: SlotCopies;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** After a failure of the store, milliseconds. */
const RETRY_MS = 250;
/** A stop does not wait longer for the store, milliseconds. */
const LEAVE_WITHIN_MS = 500;

/**
 * The part of a replica in slots: it follows the table, keeps the copies of the slots that it owns or stands by for, reports which of
 * them are current, and begins and ends the slots that it owns. While the store does not answer it goes on with what it had: the locks of the keys are
 * there too, so nothing is written.
 */
export class SlotKeeper {
  private readonly waits = new Map<number, AbortController>();
  private readonly current = new Set<number>();
  private readonly news: WakeableSleep;
  private reported: string | undefined;
  private reportedAtMs = Number.NEGATIVE_INFINITY;
  private standbys = 0;
  private assigned: readonly AssignedSlot[] = [];
  /** The numbers that the log has. */
  private told = '0 0';
  /** The failure goes on, and the log has it. */
  private isTold = false;

  constructor(private readonly deps: SlotKeeperDependencies) {
    this.news = new WakeableSleep(deps.clock);
  }

  /** How many slots this replica stands by for. */
  get standbyCount(): number {
    return this.standbys;
  }

  /** The slots with their holders, as this replica last saw them; none before it has seen any. */
  get slots(): readonly AssignedSlot[] {
    return this.assigned;
  }

  /** Runs until aborted, then leaves the table: the standbys take over, while the runs in progress here end. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { held, table } = this.deps;
    const stopListening = table.onChanged(() => this.news.wake());
    held.onIdle(() => this.news.wake());
    while (!signal.aborted) {
      const isFollowed = await this.follow(signal);
      await this.news.sleep(isFollowed ? this.untilReportMs : RETRY_MS, signal);
    }
    stopListening();
    held.onIdle(() => undefined);
    for (const slot of [...this.waits.keys()]) this.stopWaiting(slot);
    held.endOthers(new Map());
    await this.leave();
  }

  /** News of the table do not delay the next report. */
  private get untilReportMs(): number {
    return Math.max(this.reportedAtMs + MEMBER_REPORTS_EVERY_MS - this.deps.clock.monotonicNow(), 0);
  }

  private async follow(signal: AbortSignal): Promise<boolean> {
    const { logger, table } = this.deps;
    try {
      const slots = await abortable(table.read(), signal);
      // A table that was lost says nothing until the leader has made another one from the reports.
      if (slots.some(({ epoch }) => epoch > 0)) this.apply(slots);
      await abortable(this.report(), signal);
      this.isTold = false;
      return true;
    } catch (error) {
      if (isAborted(signal)) return false;
      logger[this.isTold ? 'debug' : 'warn']('the table of slots cannot be followed; trying again', {
        error,
      });
      this.isTold = true;
      return false;
    }
  }

  /** Everything here happens at one moment: no run sees a part of it. */
  private apply(slots: readonly AssignedSlot[]): void {
    const { copies, held, replica } = this.deps;
    this.assigned = slots;
    const owned = new Map(
      slots.flatMap(({ epoch, owner }, slot) => (owner === replica ? [[slot, epoch] as const] : [])),
    );
    const standby = slots.flatMap((assigned, slot) => (assigned.standby === replica ? [slot] : []));
    this.standbys = standby.length;
    held.endOthers(owned);
    const kept = new Set([...owned.keys(), ...standby, ...held.inUse]);
    for (const slot of [...this.waits.keys()]) if (!kept.has(slot)) this.stopWaiting(slot);
    for (const slot of this.current) if (!kept.has(slot)) this.current.delete(slot);
    copies.keep(kept);
    for (const slot of kept) this.awaitCopy(slot);
    held.begin(new Map([...owned].filter(([slot]) => this.current.has(slot))));
    this.tell(kept.size);
  }

  private tell(kept: number): void {
    const { held, logger } = this.deps;
    const owned = held.begun.size;
    if (`${owned} ${kept}` === this.told) return;
    this.told = `${owned} ${kept}`;
    logger.info('slots', { owned, kept, of: held.count });
  }

  private awaitCopy(slot: number): void {
    if (this.current.has(slot) || this.waits.has(slot)) return;
    const wait = new AbortController();
    this.waits.set(slot, wait);
    const note = (): void => {
      if (wait.signal.aborted) return;
      this.waits.delete(slot);
      this.current.add(slot);
      this.news.wake();
    };
    // It rejects only because the wait was stopped.
    this.deps.copies.untilCurrent(slot, wait.signal).then(note, () => undefined);
  }

  private stopWaiting(slot: number): void {
    this.waits.get(slot)?.abort(new IllegalStateError('the copy of the slot is not wanted any more'));
    this.waits.delete(slot);
  }

  private async report(): Promise<void> {
    const { clock, replica, table } = this.deps;
    const current = [...this.current].sort((one, other) => one - other);
    const text = current.join();
    const nowMs = clock.monotonicNow();
    if (text === this.reported && nowMs - this.reportedAtMs < MEMBER_REPORTS_EVERY_MS) return;
    await table.report(replica, current);
    this.reported = text;
    this.reportedAtMs = nowMs;
  }

  private async leave(): Promise<void> {
    const { clock, logger, replica, table } = this.deps;
    const late = new AbortController();
    const timer = clock.setTimeout(() => late.abort(), LEAVE_WITHIN_MS);
    await abortable(table.leave(replica), late.signal).catch((error: unknown) =>
      logger.warn('could not leave the table of slots; its leader sees the end of the process', { error }),
    );
    timer.cancel();
  }
}
