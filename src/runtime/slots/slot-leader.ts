import { abortable, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { hasCode } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { beginTerm } from '../activation/leader-term.js';
import { WakeableSleep } from '../leader-election/wakeable-sleep.js';
import type { LeaderTerm } from '../work-queue/work-queue.js';
import type { CopiesProgress } from './decide-late-copies.js';
import { COPY_WITHIN_MS, decideCopiesProgress, lateReplicas } from './decide-late-copies.js';
import type { SeenMembers } from './decide-members.js';
import { NOTHING_SEEN, decideMembers, isSilent } from './decide-members.js';
import { decideSlots } from './decide-slots.js';
import { MEMBER_REPORTS_EVERY_MS } from './slot-table.js';
import type {
  AssignedSlot,
  SlotAssigner,
  SlotChange,
  SlotHolders,
  SlotMember,
  SlotTable,
} from './slot-table.js';

/** The dependencies of {@link SlotLeader}. */
export interface SlotLeaderDependencies {
  /** This replica in the table. */
  readonly replica: string;
  readonly table: Pick<SlotTable, 'begin' | 'forget' | 'members' | 'onMembers'>;
  readonly count: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How soon the end of a process is seen, milliseconds: one command each. Everything else is published. */
const LOOK_EVERY_MS = 250;
/** How soon it is noticed that the store has lost the table, or has gone back to an older one, milliseconds. */
const CHECK_EVERY_MS = 2000;
/** So many slots are on their way to another replica at once, and are read once more by it. */
const MOVES_AT_ONCE = 4;
/** At the end of a term, milliseconds. */
const LAST_ROUND_WITHIN_MS = 500;

/** The part of the leader in slots: it assigns them to the replicas that live. What it does costs by slots and replicas, not by objects. */
export class SlotLeader {
  private readonly news: WakeableSleep;
  private unownedNow: number | undefined;
  private seen: SeenMembers = NOTHING_SEEN;
  private progress: CopiesProgress = new Map();
  private late: readonly string[] = [];
  private beganAtMs = Number.NEGATIVE_INFINITY;
  /** When the slots were last seen as the store has them. */
  private seenAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: SlotLeaderDependencies) {
    this.news = new WakeableSleep(deps.clock);
  }

  /** How many slots no living replica works on; undefined while this replica does not lead. */
  get unowned(): number | undefined {
    return this.unownedNow;
  }

  /** How many replicas get no slots because their copies do not become current; undefined while this replica does not lead. */
  get lateReplicas(): number | undefined {
    return this.unownedNow === undefined ? undefined : this.late.length;
  }

  /**
   * Assigns until aborted. At a planned end it gives the slots of this replica away, which otherwise would wait for the next leader.
   * @throws SupersededError once a newer term has begun
   */
  async lead(term: LeaderTerm, signal: AbortSignal): Promise<void> {
    const { clock, count, logger, table } = this.deps;
    const target = { name: 'slots', beginTerm: (begun: LeaderTerm) => table.begin(begun, count) };
    const assigner = await beginTerm(target, term, { clock, logger, signal });
    if (!assigner) return;
    const stopListening = table.onMembers(() => this.news.wake());
    this.beganAtMs = this.seenAtMs = clock.monotonicNow();
    this.seen = NOTHING_SEEN;
    this.progress = new Map();
    this.late = [];
    let { slots } = assigner;
    try {
      while (!signal.aborted) {
        slots = await this.round(assigner, slots, signal);
        await this.news.sleep(LOOK_EVERY_MS, signal);
      }
      if (!hasCode(signal.reason, 'LEASE_LOST')) await this.giveAway(assigner, slots);
    } finally {
      stopListening();
      this.unownedNow = undefined;
    }
  }

  private async round(
    assigner: SlotAssigner,
    slots: readonly AssignedSlot[],
    signal: AbortSignal,
    isAsked: (member: SlotMember) => boolean = () => true,
  ): Promise<readonly AssignedSlot[]> {
    try {
      const members = (await this.livingMembers(signal)).filter(isAsked);
      const isSeen = this.deps.clock.monotonicNow() - this.seenAtMs < CHECK_EVERY_MS;
      const known = isSeen ? slots : await this.assign(assigner, [], signal);
      this.noteProgress(known, members);
      const changes = this.awaitsReports(known, members) ? [] : changesOf(known, members, this.unfit);
      const next = changes.length > 0 ? await this.assign(assigner, changes, signal) : known;
      this.unownedNow = countUnowned(next, members);
      return next;
    } catch (error) {
      if (hasCode(error, 'SUPERSEDED')) throw error;
      if (!isAborted(signal)) this.deps.logger.warn('slots could not be assigned; trying again', { error });
      return slots;
    }
  }

  /** The replicas that live. Those that have fallen silent are removed from the table, so that the next leader does not see them. */
  private async livingMembers(signal: AbortSignal): Promise<readonly SlotMember[]> {
    const { clock, logger, table } = this.deps;
    const reports = await abortable(table.members(), signal);
    this.seen = decideMembers(this.seen, { reports, nowMs: clock.monotonicNow() });
    for (const report of this.seen.members.filter(isSilent)) {
      const { replica, silentMs } = report;
      logger.warn('a replica reports nothing; others get its slots', { replica, silentMs });
      await abortable(table.forget(report), signal);
    }
    return this.seen.members.filter((member) => !isSilent(member));
  }

  /** The replicas that get no slots as long as others can have them. */
  private get unfit(): readonly string[] {
    return [...this.late, ...this.doubtful];
  }

  private get doubtful(): readonly string[] {
    return this.seen.members.flatMap(({ isDoubtful, replica }) => (isDoubtful ? [replica] : []));
  }

  private noteProgress(slots: readonly AssignedSlot[], members: readonly SlotMember[]): void {
    const { clock, logger } = this.deps;
    const before = new Set(this.late);
    this.progress = decideCopiesProgress(this.progress, { slots, members, nowMs: clock.monotonicNow() });
    this.late = lateReplicas(this.progress);
    for (const replica of this.late)
      if (!before.delete(replica))
        logger.warn('the copies of a replica do not become current; others get its slots', {
          ...{ replica, waitedMs: COPY_WITHIN_MS },
        });
    for (const replica of before) logger.info('a replica may have slots again', { replica });
  }

  /** Whether no copy is certain to live, and more replicas may report: the first one would have to hold everything. */
  private awaitsReports(slots: readonly AssignedSlot[], members: readonly SlotMember[]): boolean {
    if (this.deps.clock.monotonicNow() - this.beganAtMs >= MEMBER_REPORTS_EVERY_MS) return false;
    const living = new Set(members.map(({ replica }) => replica));
    for (const replica of this.doubtful) living.delete(replica);
    return !slots.some(({ owner, standby }) => living.has(owner) || living.has(standby));
  }

  private async assign(
    assigner: SlotAssigner,
    changes: readonly SlotChange[],
    signal: AbortSignal,
  ): Promise<readonly AssignedSlot[]> {
    const slots = await abortable(assigner.assign(changes), signal);
    this.seenAtMs = this.deps.clock.monotonicNow();
    return slots;
  }

  private async giveAway(assigner: SlotAssigner, slots: readonly AssignedSlot[]): Promise<void> {
    const { clock, replica } = this.deps;
    const late = new AbortController();
    const timer = clock.setTimeout(() => late.abort(), LAST_ROUND_WITHIN_MS);
    await this.round(assigner, slots, late.signal, (member) => member.replica !== replica);
    timer.cancel();
  }
}

/** Pure. */
function changesOf(
  slots: readonly AssignedSlot[],
  members: readonly SlotMember[],
  unfit: readonly string[],
): readonly SlotChange[] {
  const current = new Map(members.map((member) => [member.replica, new Set(member.current)]));
  const next = decideSlots({
    slots,
    replicas: [...current.keys()],
    isCurrent: (replica, slot) => current.get(replica)?.has(slot) === true,
    isUnfit: (replica) => unfit.includes(replica),
    movesAtOnce: MOVES_AT_ONCE,
  });
  return next.flatMap(({ owner, standby }, slot) =>
    isSame(slots[slot], { owner, standby }) ? [] : [{ slot, owner, standby }],
  );
}

function isSame(one: SlotHolders | undefined, other: SlotHolders): boolean {
  return one?.owner === other.owner && one.standby === other.standby;
}

/** An owner works on a slot once its copy is current. */
function countUnowned(slots: readonly AssignedSlot[], members: readonly SlotMember[]): number {
  const current = new Map(members.map((member) => [member.replica, member.current]));
  return slots.filter(({ owner }, slot) => current.get(owner)?.includes(slot) !== true).length;
}
