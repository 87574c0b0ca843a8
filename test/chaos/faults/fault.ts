import type { ChaosCoordination, ChaosSet, RedisKind } from '../set/chaos-set.js';

export const FAULT_KINDS = [
  'kill leader',
  'kill follower',
  'stop leader',
  'stop follower',
  'pause leader',
  'pause working follower',
  'leader loses its Redis connections',
  'leader loses its Redis connections while paused',
  'kill scheduler',
  'stop scheduler',
  'pause scheduler',
  'kill API server',
  'stop API server',
  'kill Redis',
  'stop Redis',
  'Redis link cut',
  'Redis link stalled',
  'Redis link slow',
  'Redis link one-way to server',
  'Redis link one-way to client',
  'API link cut',
  'API link stalled',
  'API link slow',
  'API link one-way to server',
  'API link one-way to client',
  'API answers 409',
  'API answers 429',
  'API answers 500',
  'API answers 500 after the write',
  'API answers 503',
  'API answers half-sent',
  'API hangs before the write',
  'API hangs after the write',
  'watch cut',
  'watch delayed',
  'watch ended by 410',
  'event loop blocked',
  'clock forward',
  'clock back',
  'a refusal parks a key',
] as const;

/** A shared Redis server loses what it has confirmed. */
export const LOSS_KINDS = [
  'Redis loses everything',
  'Redis restarts empty',
  'Redis goes back',
  'Redis is replaced by an older one',
] as const;

/** Faults for a Redis with replicas. */
export const FAILOVER_KINDS = ['Redis fails over', 'Redis fails over twice'] as const;

/** Faults for replicas that share only a Lease. */
export const LEASE_KINDS = [
  'the Lease is deleted',
  'pause working leader',
  'lease writes hang',
  'clock of the leader a little forward',
  'clock of the leader a little back',
] as const;

export type FaultKind =
  | (typeof FAULT_KINDS)[number]
  | (typeof LOSS_KINDS)[number]
  | (typeof FAILOVER_KINDS)[number]
  | (typeof LEASE_KINDS)[number];

/**
 * The faults that can be made there: clients that find their servers themselves have no link that could be cut;
 * replicas without a Redis have none to lose, and followers that do not work cannot be met at work.
 */
export function faultKindsOn(
  redis: RedisKind,
  coordination: ChaosCoordination = 'redis',
): readonly FaultKind[] {
  if (coordination === 'leases')
    return [
      ...FAULT_KINDS.filter((kind) => !/Redis (link|connections)|working follower/.test(kind)),
      ...LEASE_KINDS,
    ];
  if (redis === 'single') return [...FAULT_KINDS, ...LOSS_KINDS];
  return [...FAULT_KINDS.filter((kind) => !/Redis (link|connections)/.test(kind)), ...FAILOVER_KINDS];
}

export interface FaultContext {
  readonly set: ChaosSet;
  /** 0 … 1: how long, as a share of the longest. */
  readonly strength: number;
  /** 0 … 1: which one. */
  readonly dice: number;
  /** How many times as long as usual may pass before something counts as too late. */
  readonly patience: number;
  /** Called when the fault begins: from here recovery is measured. */
  readonly began: (target: string) => void;
  /** The fault itself showed that a promise was broken. */
  readonly failed: (problem: string) => void;
}

/** Makes the fault and resolves when it is over and everything it touched is as before. */
export type Fault = (context: FaultContext) => Promise<void>;

/** From `least` to `most` by the fault's strength. */
export function between(least: number, most: number, strength: number): number {
  return Math.round(least + (most - least) * strength);
}

export function chosen<T>(items: readonly T[], dice: number): T | undefined {
  return items[Math.min(Math.floor(dice * items.length), items.length - 1)];
}
