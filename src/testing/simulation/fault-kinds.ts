import type { RandomSource } from '@rollkeeper/machinery/clock';

/** The kinds of faults. Each run leaves some of them out. */
export const FAULT_KINDS = [
  'messages are lost',
  'messages are doubled',
  'messages are late',
  'connections break',
  'a replica is killed',
  'a replica dies at an effect',
  'a replica dies at a creation that others see late',
  'a replica is paused',
  'a replica is restarted',
  'the store is paused',
  'the store loses its queues',
  'the store loses one queue',
  'the store is full',
  'the store goes back',
  'the API server is paused',
  'the API server refuses',
  'the API server fails after the effect',
  'a wall clock jumps',
  'watches are cut',
  'watches fall silent',
  'watches expire',
  'watches are held',
] as const;

/** The kinds that the store of a world has beside them, if it is a Redis. */
export const STORE_FAULT_KINDS = [
  'the store is restarted',
  'the store loses its scripts',
  'the store loses its last writes',
  'connections to the store are half open',
] as const;

/** The kinds of a world whose replicas come and go: with slots, say, each of them moves some. */
export const MEMBER_FAULT_KINDS = ['a replica joins', 'a replica leaves for a while'] as const;

/** One of {@link MEMBER_FAULT_KINDS}. */
export type MemberFaultKind = (typeof MEMBER_FAULT_KINDS)[number];

/** One of {@link STORE_FAULT_KINDS}. */
export type StoreFaultKind = (typeof STORE_FAULT_KINDS)[number];

/** Every message of all processes may be lost, broken, doubled and late, until the next storm. Only dense plans have it. */
export const STORM = 'all messages are at risk';

/** One of {@link FAULT_KINDS}, {@link STORE_FAULT_KINDS} or {@link MEMBER_FAULT_KINDS}, or {@link STORM}. */
export type FaultKind = (typeof FAULT_KINDS)[number] | StoreFaultKind | MemberFaultKind | typeof STORM;

/** Chances of one event: it draws from nothing else, so that an event stays what it is when others are left out. */
export type Dice = readonly [number, number, number, number];

/** A fault of a run. */
export interface PlannedFault {
  /** When it happens, milliseconds from the start of the run. */
  readonly atMs: number;
  readonly fault: FaultKind;
  /** They decide what it strikes, and how hard. */
  readonly dice: Dice;
}

/** Before the first fault, milliseconds: every replica runs. */
const CALM_MS = 5000;

/** Four chances of one event. */
export function diceOf(random: RandomSource): Dice {
  return [random.next(), random.next(), random.next(), random.next()];
}

/** Faults of these kinds, at times of chance. @param everyMs how far apart they are on average, milliseconds */
export function planFaults(
  random: RandomSource,
  kinds: readonly FaultKind[],
  { everyMs, untilMs }: { readonly everyMs: number; readonly untilMs: number },
): PlannedFault[] {
  const faults: PlannedFault[] = [];
  for (let atMs = CALM_MS; atMs < untilMs && kinds.length > 0; atMs += everyMs * 2 * random.next())
    faults.push({ atMs, fault: kinds[Math.floor(random.next() * kinds.length)]!, dice: diceOf(random) });
  return faults;
}
