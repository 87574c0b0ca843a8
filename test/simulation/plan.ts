import { SeededRandom } from '../../src/machinery/clock/index.js';

/** The kinds of faults. Each run leaves some of them out. */
export const FAULT_KINDS = [
  'messages are lost',
  'messages are doubled',
  'messages are late',
  'connections break',
  'a replica is killed',
  'a replica dies at an effect',
  'a replica is paused',
  'a replica is restarted',
  'the store is paused',
  'the store loses its queues',
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

export type FaultKind = (typeof FAULT_KINDS)[number];

export const ACTS = [
  'create or update',
  'scale',
  'pause or resume',
  'undo',
  'delete',
  'delete a pod',
  'fail a pod',
] as const;

export type Act = (typeof ACTS)[number];

/** Chances of one event: it draws from nothing else, so that an event stays what it is when others are left out. */
type Dice = readonly [number, number, number, number];

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: FaultKind;
  readonly dice: Dice;
}

export interface PlannedAct {
  readonly atMs: number;
  readonly act: Act;
  /** Of a Deployment. */
  readonly name: string;
  readonly dice: Dice;
}

/** All that will be done to a world, and when. Cut it to find out which of it a failure needs. */
export interface Plan {
  /** Until then there are faults and users, simulated milliseconds. */
  readonly troubledMs: number;
  /** See `WorldOptions`. */
  readonly coordination: 'store' | 'leases';
  /** See `LeaderElectionOptions`. */
  readonly takeover: 'witness' | 'expiry';
  readonly faults: readonly PlannedFault[];
  readonly acts: readonly PlannedAct[];
}

/** Before the first fault, milliseconds: every replica runs. */
const CALM_MS = 5000;
const DEPLOYMENTS = 6;

/** The plan of a seed. @param troubledMs how long there are faults and users, simulated milliseconds */
export function planOf(seed: number, troubledMs: number): Plan {
  const random = new SeededRandom(seed ^ 0x5eed);
  const chance = (): number => random.next();
  const dice = (): Dice => [chance(), chance(), chance(), chance()];
  const kinds = FAULT_KINDS.filter(() => chance() < 0.5);
  const everyFaultMs = 300 + 5000 * chance() ** 2;
  const everyActMs = 300 + 3000 * chance();
  const coordination = new SeededRandom(seed ^ 0x1ea5e).next() < 0.25 ? 'leases' : 'store';
  const takeover = chance() < 0.3 ? 'witness' : 'expiry';
  const faults: PlannedFault[] = [];
  const acts: PlannedAct[] = [];
  for (let atMs = CALM_MS; atMs < troubledMs && kinds.length > 0; atMs += everyFaultMs * 2 * chance())
    faults.push({ atMs, fault: kinds[Math.floor(chance() * kinds.length)]!, dice: dice() });
  for (let atMs = 100; atMs < troubledMs; atMs += everyActMs * 2 * chance()) {
    const name = `load-${Math.floor(chance() * DEPLOYMENTS)}`;
    acts.push({ atMs, act: actOf(chance()), name, dice: dice() });
  }
  return { troubledMs, coordination, takeover, faults, acts };
}

/** Most acts change a template. */
function actOf(dice: number): Act {
  const limits = [0.4, 0.6, 0.7, 0.78, 0.84, 0.94, 1];
  return ACTS[limits.findIndex((limit) => dice < limit)] ?? ACTS[0];
}
