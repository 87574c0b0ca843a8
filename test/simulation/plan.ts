import { SeededRandom } from '../../src/machinery/clock/index.js';
import type { Dice, FaultKind, PlannedFault } from '../../src/testing/simulation/index.js';
import {
  FAULT_KINDS,
  MEMBER_FAULT_KINDS,
  STORE_FAULT_KINDS,
  STORM,
  diceOf,
  planFaults,
} from '../../src/testing/simulation/index.js';
import { LIFETIME_NAMES, PLAIN_NAMES, POLICY_NAMES, REQUEST_NAMES } from './shapes.js';
import { SLOTS } from './slots/slot-namespaces.js';

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

/** These are done in a world of requests alone. */
export const REQUEST_ACTS = ['approve', 'edit the route', 'the gateway leaves'] as const;

/** These are done in a world of lifetimes alone. */
export const LIFETIME_ACTS = ['upgrade the mesh', 'the mesh leaves'] as const;

export type Act = (typeof ACTS)[number] | (typeof REQUEST_ACTS)[number] | (typeof LIFETIME_ACTS)[number];

export interface PlannedAct {
  readonly atMs: number;
  readonly act: Act;
  /** The name of a Deployment. */
  readonly name: string;
  readonly dice: Dice;
}

/** How the replicas of a run coordinate. */
export type Way = 'store' | 'leases' | 'redis';

/**
 * The Deployments of a world, and the objects beside them: without policies, under some, under the policies of requests and experiments, or
 * under the policies of how long pods live, namely old pods that have sessions, and pods with the sidecars of an earlier mesh.
 */
export const WORLD_NAMES = {
  plain: PLAIN_NAMES,
  policies: POLICY_NAMES,
  requests: REQUEST_NAMES,
  lifetimes: LIFETIME_NAMES,
} as const satisfies Record<string, readonly string[]>;

export type WorldKind = keyof typeof WORLD_NAMES;

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
  /** @default 'plain' */
  readonly world?: WorldKind;
  /** Over how many slots the namespaces are spread; only on a simulated Redis. @default they are not */
  readonly slots?: number;
  /** How many replicas there are at first. @default 3 */
  readonly replicas?: number;
  readonly faults: readonly PlannedFault[];
  readonly acts: readonly PlannedAct[];
}

/**
 * With some seeds, users stop so much earlier than faults, milliseconds: no change of theirs repairs what is lost
 * then.
 */
const USERS_STOP_BEFORE_MS = 6000;

/** The parts of a plan that are not left to the seed. */
export interface Chosen {
  /** The kinds of its faults, in a plain world unless another is chosen. @default about half of them, by chance */
  readonly only?: readonly FaultKind[];
  /** How its replicas coordinate. @default by chance */
  readonly way?: Way;
  /** @default by chance */
  readonly world?: WorldKind;
  /** Whether the namespaces are spread over slots. @default by chance, if nothing else is chosen */
  readonly slots?: boolean;
}

/**
 * The plan of a seed.
 * @param troubledMs how long there are faults and users, simulated milliseconds
 */
export function planOf(seed: number, troubledMs: number, chosen: Chosen = {}): Plan {
  const { only } = chosen;
  const isByChance = only === undefined && chosen.way === undefined && chosen.world === undefined;
  const slots = chosen.slots ?? (isByChance && hasSlots(seed));
  const way = slots ? 'redis' : (chosen.way ?? wayOf(seed));
  const random = new SeededRandom(seed ^ 0x5eed);
  const chance = (): number => random.next();
  const ofWorlds = only === undefined ? worldOf(seed) : 'plain';
  const world = chosen.world ?? (slots && IS_DATED[ofWorlds] ? 'policies' : ofWorlds);
  const ofSeed = FAULT_KINDS.filter(() => chance() < 0.5).filter(
    (kind) => !IS_DATED[world] || kind !== JUMPS,
  );
  const ofRedis = new SeededRandom(seed ^ 0x4ed15);
  const ofStore = way === 'redis' ? STORE_FAULT_KINDS.filter(() => ofRedis.next() < 0.5) : [];
  const kinds = only ?? [...ofSeed, ...ofStore, ...(slots ? MEMBER_FAULT_KINDS : [])];
  const everyFaultMs = 300 + 5000 * chance() ** 2;
  const everyActMs = 300 + 3000 * chance();
  const usersStopMs = troubledMs - (new SeededRandom(seed ^ 0xea51).next() < 0.5 ? USERS_STOP_BEFORE_MS : 0);
  const names: readonly string[] = WORLD_NAMES[world];
  const takeover = chance() < 0.3 ? 'witness' : 'expiry';
  const faults = planFaults(random, kinds, { everyMs: everyFaultMs, untilMs: troubledMs });
  const acts: PlannedAct[] = [];
  for (let atMs = 100; atMs < usersStopMs; atMs += everyActMs * 2 * chance()) {
    const name = names[Math.floor(chance() * names.length)]!;
    acts.push({ atMs, act: actOf(chance(), world), name, dice: diceOf(random) });
  }
  const inSlots = slots ? { slots: SLOTS, replicas: replicasOf(seed) } : {};
  return { troubledMs, coordination: way, takeover, world, ...inSlots, faults, acts };
}

/** One seed of twelve has slots. */
function hasSlots(seed: number): boolean {
  return new SeededRandom(seed ^ 0x510f5).next() < 1 / 12;
}

/** Three to five. */
function replicasOf(seed: number): number {
  return 3 + Math.floor(3 * new SeededRandom(seed ^ 0x4e9).next());
}

/** The API has the times of drains, waits and experiments by wall clocks: one that is far ahead makes them as much longer. */
const JUMPS: FaultKind = 'a wall clock jumps';
const IS_DATED: Readonly<Record<WorldKind, boolean>> = {
  ...{ plain: false, policies: false, requests: true, lifetimes: true },
};

/**
 * The plan of a seed for replicas of two versions: an earlier one may know nothing of Deployments with requests or sessions.
 * @param world @default by the seed, but for those
 */
export function planBesideOf(seed: number, troubledMs: number, world: WorldKind = worldOf(seed)): Plan {
  const known = IS_DATED[world] ? 'policies' : world;
  return planOf(seed, troubledMs, { way: wayOfTwo(wayOf(seed)), world: known, slots: false });
}

/** The Deployments of a seed: one of five is about requests, one of eight about lifetimes, and three of ten about other policies. */
function worldOf(seed: number): WorldKind {
  const chance = new SeededRandom(seed ^ 0x9011c).next();
  if (chance < 0.2) return 'requests';
  if (chance >= 0.875) return 'lifetimes';
  return chance < 0.5 ? 'policies' : 'plain';
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
    const act = actOf(chance(), 'plain');
    const dice = diceOf(random);
    if (act !== 'delete' || collectsGarbage) acts.push({ atMs, act, name, dice });
  }
  return { troubledMs, coordination, takeover, collectsGarbage, faults, acts };
}

/** Most acts change a template. */
const ACT_LIMITS = [0.4, 0.6, 0.7, 0.78, 0.84, 0.94, 1];
/** A rollout by steps needs more time, and approvals. */
const REQUEST_ACT_LIMITS = [0.28, 0.38, 0.43, 0.48, 0.52, 0.6, 0.66, 0.86, 0.93, 1];

/** A restart for a mesh takes a whole rollout before it, and there are three for each Deployment. */
const LIFETIME_ACT_LIMITS = [0.4, 0.5, 0.55, 0.62, 0.67, 0.75, 0.81, 0.93, 1];

const ACTS_OF: Readonly<Record<WorldKind, readonly [readonly Act[], readonly number[]]>> = {
  plain: [ACTS, ACT_LIMITS],
  policies: [ACTS, ACT_LIMITS],
  requests: [[...ACTS, ...REQUEST_ACTS], REQUEST_ACT_LIMITS],
  lifetimes: [[...ACTS, ...LIFETIME_ACTS], LIFETIME_ACT_LIMITS],
};

function actOf(dice: number, world: WorldKind): Act {
  const [acts, limits] = ACTS_OF[world];
  return acts[limits.findIndex((limit) => dice < limit)] ?? ACTS[0];
}
