import { shardHash } from '@rollkeeper/machinery/kubernetes';
import type { SlotHolders } from './slot-table.js';
import { NO_REPLICA } from './slot-table.js';

/** The difference between the numbers of slots of two replicas that is left as it is: a dead replica's slots go where their copies are. */
const TOLERATED = 2;

/** The state from which slots are assigned. */
export interface SlotsSeen {
  /** The holders of each slot, by its number. */
  readonly slots: readonly SlotHolders[];
  /** The replicas that live and take slots. */
  readonly replicas: readonly string[];
  /** Whether a replica's copy of a slot shows what the server has. */
  readonly isCurrent: (replica: string, slot: number) => boolean;
  /**
   * Whether a replica gets slots only if no other can have them: its copies do not become current (`decideCopiesProgress`), or it may be dead
   * (`decideMembers`). @default none
   */
  readonly isUnfit?: (replica: string) => boolean;
  /** How many slots may be on their way to another replica at the same time, each of them read once more by it. */
  readonly movesAtOnce: number;
}

/**
 * The next holders of each slot. Repeated until nothing changes, each time from what is seen then:
 *
 * 1. A slot without an owner, or whose owner is dead, goes to its standby, and without one to another replica at once, to one whose copy is
 *    current if there is one.
 * 2. The owners' numbers of slots differ by two at most in the end. A slot moves only to a replica whose copy is current; until then it is that slot's standby. The old owner becomes the standby.
 * 3. Each slot has a standby, if there are two replicas; those of one owner's slots are spread over the others. Once all copies are
 *    current, standbys move one by one until the replicas' numbers of copies differ little.
 * 4. An unfit replica keeps the slots whose copies are current there. It loses the others, and gets none, as long as another replica can have
 *    them.
 *
 * Ties are broken by rendezvous hashing, so that nothing depends on the order of the replicas. The cost grows with slots and replicas,
 * and not with objects.
 */
export function decideSlots(seen: SlotsSeen): readonly SlotHolders[] {
  const { isCurrent, isUnfit = () => false, movesAtOnce, replicas, slots } = seen;
  const living = [...new Set(replicas)].sort();
  if (living.length === 0) return slots;
  const fitting = living.filter((replica) => !isUnfit(replica));
  const fit = fitting.length > 0 ? fitting : living;
  const taken = takeOver(slots, { living, fit, isCurrent });
  const moved = move(taken, { living, fit, isCurrent, movesAtOnce });
  const whole = withStandbys(moved, living, fit);
  // Not beside moves, whose targets are standbys for a while, and one at a time: until its copy is there, the slot has none that is warm.
  const isAtRest = whole.every(
    (holders, slot) => isSame(holders, slots[slot]) && isCurrent(holders.standby, slot),
  );
  return isAtRest ? withStandbyMoved(whole, fit) : whole;
}

function isSame(one: SlotHolders, other: SlotHolders | undefined): boolean {
  return one.owner === other?.owner && one.standby === other.standby;
}

/** How many copies each replica keeps. */
function copiesOf(holders: readonly SlotHolders[], living: readonly string[]): Map<string, number> {
  const copies = new Map(living.map((replica) => [replica, 0]));
  for (const { owner, standby } of holders)
    for (const replica of [owner, standby]) copies.set(replica, (copies.get(replica) ?? 0) + 1);
  return copies;
}

/** One standby goes from a replica with many copies to one with few, as long as their numbers differ much. */
function withStandbyMoved(
  holders: readonly SlotHolders[],
  living: readonly string[],
): readonly SlotHolders[] {
  const copies = copiesOf(holders, living);
  const byCopies = living.toSorted((one, other) => (copies.get(one) ?? 0) - (copies.get(other) ?? 0));
  for (const to of byCopies)
    for (const from of byCopies.toReversed()) {
      if ((copies.get(from) ?? 0) - (copies.get(to) ?? 0) <= TOLERATED) break;
      const slot = holders.findIndex(({ owner, standby }) => standby === from && owner !== to);
      if (slot >= 0) return holders.with(slot, { owner: holders[slot]!.owner, standby: to });
    }
  return holders;
}

/** How many slots each replica owns. */
function loadsOf(holders: readonly SlotHolders[], living: readonly string[]): Map<string, number> {
  const loads = new Map(living.map((replica) => [replica, 0]));
  for (const { owner } of holders) if (loads.has(owner)) loads.set(owner, (loads.get(owner) ?? 0) + 1);
  return loads;
}

/** The replicas of a decision. */
interface Candidates extends Pick<SlotsSeen, 'isCurrent'> {
  readonly living: readonly string[];
  /** The living replicas that may get slots: all that are not unfit, or all if all are. */
  readonly fit: readonly string[];
}

function takeOver(slots: readonly SlotHolders[], { fit, isCurrent, living }: Candidates): SlotHolders[] {
  const [lives, isFit] = [new Set(living), new Set(fit)];
  const taken = slots.map(({ owner, standby }, slot) => {
    const alive = (replica: string): string =>
      isFit.has(replica) || (lives.has(replica) && isCurrent(replica, slot)) ? replica : NO_REPLICA;
    return alive(owner) === NO_REPLICA
      ? { owner: alive(standby), standby: NO_REPLICA }
      : { owner, standby: owner === standby ? NO_REPLICA : alive(standby) };
  });
  const most = Math.ceil(slots.length / fit.length);
  const loads = loadsOf(taken, living);
  return taken.map((holders, slot) => {
    if (holders.owner !== NO_REPLICA) return holders;
    const withRoom = fit.filter((replica) => (loads.get(replica) ?? 0) < most);
    const current = living.filter((replica) => isCurrent(replica, slot));
    const currentWithRoom = current.filter((replica) => (loads.get(replica) ?? 0) < most);
    const candidates = [currentWithRoom, current].find(({ length }) => length > 0) ?? withRoom;
    const owner = preferredOf(candidates, slot);
    loads.set(owner, (loads.get(owner) ?? 0) + 1);
    return { owner, standby: NO_REPLICA };
  });
}

interface Movement extends Candidates, Pick<SlotsSeen, 'movesAtOnce'> {}

function move(holders: readonly SlotHolders[], movement: Movement): readonly SlotHolders[] {
  const { isCurrent } = movement;
  const next = [...holders];
  for (const [slot, target] of balance(holders, movement)) {
    const { owner, standby } = holders[slot]!;
    const isReady = standby === target && isCurrent(target, slot);
    next[slot] = isReady ? { owner: target, standby: owner } : { owner, standby: target };
  }
  return next;
}

/**
 * The first moves, by slot, of those after which the numbers of slots differ little; none while they do. The replica with the fewest comes to have
 * as many as the others, less one, and no slot moves between those that are near each other.
 */
function balance(
  holders: readonly SlotHolders[],
  { fit, living, movesAtOnce }: Movement,
): ReadonlyMap<number, string> {
  const loads = loadsOf(holders, living);
  const loadOf = (replica: string): number => loads.get(replica) ?? 0;
  const moves = new Map<number, string>();
  let first: string | undefined;
  while (moves.size < movesAtOnce) {
    const to = fit.reduce((least, replica) => (loadOf(replica) < loadOf(least) ? replica : least));
    const from = living.reduce((most, replica) => (loadOf(replica) > loadOf(most) ? replica : most));
    const difference = loadOf(from) - loadOf(to);
    if (difference <= (to === first ? 1 : TOLERATED)) break;
    first ??= to;
    moves.set(slotToMove(holders, from, { to, moves }), to);
    loads.set(to, loadOf(to) + 1).set(from, loadOf(from) - 1);
  }
  return moves;
}

/** A slot whose standby is the new owner moves first: its copy is there, or on its way. */
function slotToMove(
  holders: readonly SlotHolders[],
  from: string,
  { moves, to }: { readonly to: string; readonly moves: ReadonlyMap<number, string> },
): number {
  const own = holders.flatMap(({ owner }, slot) => (owner === from && !moves.has(slot) ? [slot] : []));
  const copied = own.filter((slot) => holders[slot]!.standby === to);
  const candidates = copied.length > 0 ? copied : own;
  return candidates.reduce((best, slot) => (weightOf(to, slot) > weightOf(to, best) ? slot : best));
}

function withStandbys(
  holders: readonly SlotHolders[],
  living: readonly string[],
  fit: readonly string[],
): readonly SlotHolders[] {
  const loads = loadsOf(holders, living);
  const copies = new Map(living.map((replica) => [replica, 0]));
  const ofOwner = new Map<string, number>();
  const count = (owner: string, standby: string): void => {
    copies.set(standby, (copies.get(standby) ?? 0) + 1);
    ofOwner.set(`${owner} ${standby}`, (ofOwner.get(`${owner} ${standby}`) ?? 0) + 1);
  };
  for (const { owner, standby } of holders) if (standby !== NO_REPLICA) count(owner, standby);
  return holders.map(({ owner, standby }, slot) => {
    const without = (replicas: readonly string[]): readonly string[] =>
      replicas.filter((replica) => replica !== owner);
    // An unfit one is better than none: its copy may still come.
    const others = [fit, living].map(without).find(({ length }) => length > 0) ?? [];
    if (standby !== NO_REPLICA || others.length === 0) return { owner, standby };
    // First how many slots it would own after the end of the owner.
    const ranks = (replica: string): readonly number[] => [
      (loads.get(replica) ?? 0) + (ofOwner.get(`${owner} ${replica}`) ?? 0),
      copies.get(replica) ?? 0,
    ];
    const chosen = preferredOf(leastOf(others, ranks), slot);
    count(owner, chosen);
    return { owner, standby: chosen };
  });
}

/** The replicas whose ranks, compared one after the other, are the lowest. */
function leastOf(
  replicas: readonly string[],
  ranksOf: (replica: string) => readonly number[],
): readonly string[] {
  let least = replicas;
  for (let index = 0; index < 2; index++) {
    const lowest = Math.min(...least.map((replica) => ranksOf(replica)[index]!));
    least = least.filter((replica) => ranksOf(replica)[index] === lowest);
  }
  return least;
}

/** Rendezvous hashing: of the replicas the one with the greatest weight for the slot. */
function preferredOf(replicas: readonly string[], slot: number): string {
  return replicas.reduce((best, replica) =>
    weightOf(replica, slot) > weightOf(best, slot) ? replica : best,
  );
}

/** FNV-1a hardly changes its first bits with the last bytes; the finalizer of MurmurHash3 mixes them. */
function weightOf(replica: string, slot: number): bigint {
  let hash = shardHash(`${replica}/${slot}`);
  for (const factor of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n])
    hash = BigInt.asUintN(64, (hash ^ (hash >> 33n)) * factor);
  return hash ^ (hash >> 33n);
}
