import { SeededRandom } from '../../src/machinery/clock/index.js';
import type { Dice, FaultKind, PlannedFault } from '../../src/testing/simulation/index.js';
import {
  FAULT_KINDS,
  STORE_FAULT_KINDS,
  STORM,
  diceOf,
  planFaults,
} from '../../src/testing/simulation/index.js';
import { PLAIN_NAMES, POLICY_NAMES } from './shapes.js';

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
  /**
   * Whether the garbage collector runs, which watches every kind and so makes most of a small world's requests. No Deployment
   * is deleted without it. @default true
   */
  readonly collectsGarbage?: boolean;
  /** Whether there are Deployments under further policies, and what these policies need. @default false */
  readonly policies?: boolean;
  readonly faults: readonly PlannedFault[];
  readonly acts: readonly PlannedAct[];
}

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
  const policies = only === undefined && new SeededRandom(seed ^ 0x9011c).next() < 0.5;
  const names = policies ? POLICY_NAMES : PLAIN_NAMES;
  const takeover = chance() < 0.3 ? 'witness' : 'expiry';
  const faults = planFaults(random, kinds, { everyMs: everyFaultMs, untilMs: troubledMs });
  const acts: PlannedAct[] = [];
  for (let atMs = 100; atMs < usersStopMs; atMs += everyActMs * 2 * chance()) {
    const name = names[Math.floor(chance() * names.length)]!;
    acts.push({ atMs, act: actOf(chance()), name, dice: diceOf(random) });
  }
  return { troubledMs, coordination: way, takeover, policies, faults, acts };
}

/** One seed of four coordinates by a Lease in the API, and one of eight by a simulated Redis. */
export function wayOf(seed: number): Way {
  if (new SeededRandom(seed ^ 0x1ea5e).next() < 0.25) return 'leases';
  return new SeededRandom(seed ^ 0x5e45).next() < 1 / 6 ? 'redis' : 'store';
}

/** How replicas of two versions coordinate: the store in memory has no format that they could disagree on. */
export function wayOfTwo(way: Way): Way {
  return way === 'store' ? 'redis' : way;
}

/** How often a storm changes, milliseconds on average. */
const STORM_MS = 6000;
/** The names in a dense plan: some of the shapes of `users.ts`, and few Deployments. */
const DENSE_NAMES = [['load-0'], ['load-1'], ['load-2', 'load-3'], ['load-3'], ['load-1', 'load-0']] as const;

/**
 * The plan of a seed for a small world where most messages are lost, late or doubled, and where everything else happens as
 * well, about half of its kinds in each seed. One or two Deployments leave the most faults for each step.
 * @param troubledMs how long there are faults and users, simulated milliseconds
 */
export function densePlanOf(seed: number, troubledMs: number): Plan {
  const random = new SeededRandom(seed ^ 0xde45e);
  const chance = (): number => random.next();
  const kinds = FAULT_KINDS.filter(() => chance() < 0.5);
  const everyMs = 500 + 4000 * chance();
  const everyActMs = 1000 + 6000 * chance();
  const coordination = chance() < 0.1 ? 'leases' : 'store';
  const takeover = chance() < 0.3 ? 'witness' : 'expiry';
  const collectsGarbage = chance() < 0.25;
  const names = DENSE_NAMES[Math.floor(chance() * DENSE_NAMES.length)]!;
  const faults = [
    ...planFaults(random, [STORM], { everyMs: STORM_MS, untilMs: troubledMs }),
    ...planFaults(random, kinds, { everyMs, untilMs: troubledMs }),
  ].toSorted((a, b) => a.atMs - b.atMs);
  const acts: PlannedAct[] = [];
  for (let atMs = 100; atMs < troubledMs; atMs += everyActMs * 2 * chance()) {
    const name = names[Math.floor(chance() * names.length)]!;
    const act = actOf(chance());
    const dice = diceOf(random);
    if (act !== 'delete' || collectsGarbage) acts.push({ atMs, act, name, dice });
  }
  return { troubledMs, coordination, takeover, collectsGarbage, faults, acts };
}

/** Most acts change a template. */
function actOf(dice: number): Act {
  const limits = [0.4, 0.6, 0.7, 0.78, 0.84, 0.94, 1];
  return ACTS[limits.findIndex((limit) => dice < limit)] ?? ACTS[0];
}
