import { SeededRandom } from '../../src/machinery/clock/index.js';
import type { Dice, FaultKind, PlannedFault } from '../../src/testing/simulation/index.js';
import { FAULT_KINDS, STORE_FAULT_KINDS, diceOf, planFaults } from '../../src/testing/simulation/index.js';

export type { FaultKind } from '../../src/testing/simulation/index.js';

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

export interface PlannedAct {
  readonly atMs: number;
  readonly act: Act;
  /** The name of a Deployment. */
  readonly name: string;
  readonly dice: Dice;
}

/** How the replicas of a run coordinate. */
export type Way = 'store' | 'leases' | 'redis';

/** All that will be done to a world, and when. Cut it to find out which of it a failure needs. */
export interface Plan {
  /** Until then there are faults and users, simulated milliseconds. */
  readonly troubledMs: number;
  /** See `WorldOptions`; `redis`: the real ioredis, BullMQ and scripts on a simulated Redis. */
  readonly coordination: Way;
  /** See `LeaderElectionOptions`. */
  readonly takeover: 'witness' | 'expiry';
  readonly faults: readonly PlannedFault[];
  readonly acts: readonly PlannedAct[];
}

const DEPLOYMENTS = 6;
/**
 * With some seeds, users stop so much earlier than faults, milliseconds: no change of theirs repairs what is lost
 * then.
 */
const USERS_STOP_BEFORE_MS = 6000;

/**
 * The plan of a seed.
 * @param troubledMs how long there are faults and users, simulated milliseconds
 * @param only the kinds of its faults. @default about half of them, by chance
 * @param way how its replicas coordinate. @default by chance
 */
export function planOf(
  seed: number,
  troubledMs: number,
  only?: readonly FaultKind[],
  way: Way = wayOf(seed),
): Plan {
  const random = new SeededRandom(seed ^ 0x5eed);
  const chance = (): number => random.next();
  const ofSeed = FAULT_KINDS.filter(() => chance() < 0.5);
  const ofRedis = new SeededRandom(seed ^ 0x4ed15);
  const ofStore = way === 'redis' ? STORE_FAULT_KINDS.filter(() => ofRedis.next() < 0.5) : [];
  const kinds = only ?? [...ofSeed, ...ofStore];
  const everyFaultMs = 300 + 5000 * chance() ** 2;
  const everyActMs = 300 + 3000 * chance();
  const usersStopMs = troubledMs - (new SeededRandom(seed ^ 0xea51).next() < 0.5 ? USERS_STOP_BEFORE_MS : 0);
  const takeover = chance() < 0.3 ? 'witness' : 'expiry';
  const faults = planFaults(random, kinds, { everyMs: everyFaultMs, untilMs: troubledMs });
  const acts: PlannedAct[] = [];
  for (let atMs = 100; atMs < usersStopMs; atMs += everyActMs * 2 * chance()) {
    const name = `load-${Math.floor(chance() * DEPLOYMENTS)}`;
    acts.push({ atMs, act: actOf(chance()), name, dice: diceOf(random) });
  }
  return { troubledMs, coordination: way, takeover, faults, acts };
}

/** One seed of four coordinates by a Lease in the API, and one of eight by a simulated Redis. */
export function wayOf(seed: number): Way {
  if (new SeededRandom(seed ^ 0x1ea5e).next() < 0.25) return 'leases';
  return new SeededRandom(seed ^ 0x5e45).next() < 1 / 6 ? 'redis' : 'store';
}

/** Most acts change a template. */
function actOf(dice: number): Act {
  const limits = [0.4, 0.6, 0.7, 0.78, 0.84, 0.94, 1];
  return ACTS[limits.findIndex((limit) => dice < limit)] ?? ACTS[0];
}
