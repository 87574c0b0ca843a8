import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { CoordinationMode } from '@rollkeeper/runtime';
import { namesOf } from '@rollkeeper/machinery/names-of';
import type { LeaderMigration } from './leader-migration.js';
import { LEADERSHIP_DEFAULTS } from './replica-options.table.js';

/** Interdependent options of leader election. */
export interface LeadershipOptions {
  /** `none`: this replica leads without an election. */
  readonly 'leader-elect-resource-lock': 'redis' | 'leases' | 'none';
  readonly 'leader-elect-resource-name': string;
  readonly 'leader-takeover': 'witness' | 'expiry';
  readonly 'reconcile-on': 'all' | 'leader';
}

type GivenLeadershipOptions = {
  readonly [Option in keyof LeadershipOptions]?: LeadershipOptions[Option] | undefined;
} & {
  readonly identity: string;
  readonly coordination: CoordinationMode;
  readonly 'leader-elect': boolean;
  readonly 'leader-elect-coordinated': boolean;
};

/** Allowed in the name of a LeaseCandidate, of up to 253 characters; 37 are used for the id of the process's life. */
const CANDIDATE_NAME = /^[\w.-]{1,216}$/;

/**
 * Applies defaults. While controllers move from or to a component without access to our Redis, our replicas must not
 * run beside it: the shared lock is a Lease, only its holder processes keys, and it is never taken before it expires.
 * @param defaultName of the Lease
 * @throws InvalidOptionError
 */
export function decideLeadershipOptions(
  given: GivenLeadershipOptions,
  migration: LeaderMigration | undefined,
  defaultName: string = LEADERSHIP_DEFAULTS.name,
): LeadershipOptions {
  const { coordination } = given;
  const isElected = given['leader-elect'] && coordination !== 'local';
  if (!isElected) assertNeedsNoElection(given, migration);
  // Only the Lease is seen by other processes: its holder works alone, and has no witness.
  const byLease = migration !== undefined || coordination === 'leases';
  const lock = given['leader-elect-resource-lock'] ?? (byLease ? 'leases' : LEADERSHIP_DEFAULTS.lock);
  const decided = {
    'leader-elect-resource-lock': isElected ? lock : 'none',
    'leader-elect-resource-name': given['leader-elect-resource-name'] ?? migration?.leaderName ?? defaultName,
    'leader-takeover': given['leader-takeover'] ?? (byLease ? 'expiry' : LEADERSHIP_DEFAULTS.takeover),
    'reconcile-on': given['reconcile-on'] ?? (byLease ? 'leader' : LEADERSHIP_DEFAULTS.reconcileOn),
  } as const;
  if (coordination === 'leases') assertFitsLeases(decided);
  if (migration) assertFitsMigration(decided, migration);
  if (given['leader-elect-coordinated']) assertMayStand(given.identity, decided, migration);
  return decided;
}

function assertNeedsNoElection(given: GivenLeadershipOptions, migration: LeaderMigration | undefined): void {
  const needing = migration ? 'leader-migration-config' : 'leader-elect-coordinated';
  if (migration || given['leader-elect-coordinated'])
    throw given.coordination === 'local'
      ? new InvalidOptionError('coordination', `cannot be local with ${needing}`)
      : new InvalidOptionError('leader-elect', `cannot be false with ${needing}`);
}

function assertFitsLeases(decided: LeadershipOptions): void {
  const lock = decided['leader-elect-resource-lock'];
  if (lock === 'none')
    throw new InvalidOptionError(
      'leader-elect',
      'cannot be false with coordination=leases; one replica alone has coordination=local',
    );
  const needed = {
    'leader-elect-resource-lock': 'leases',
    'leader-takeover': 'expiry',
    'reconcile-on': 'leader',
  } as const;
  assertAre(decided, needed, 'coordination=leases');
}

function assertAre(decided: LeadershipOptions, needed: Partial<LeadershipOptions>, needing: string): void {
  for (const option of namesOf(needed)) {
    if (decided[option] !== needed[option])
      throw new InvalidOptionError(option, `must be ${needed[option]} with ${needing}`);
  }
}

function assertFitsMigration(decided: LeadershipOptions, { leaderName }: LeaderMigration): void {
  const needed = {
    'leader-elect-resource-lock': 'leases',
    'leader-elect-resource-name': leaderName,
    'reconcile-on': 'leader',
  } as const;
  assertAre(decided, needed, 'leader-migration-config');
}

function assertMayStand(
  identity: string,
  decided: LeadershipOptions,
  migration: LeaderMigration | undefined,
): void {
  // A coordinator would only consider us: the other component is no candidate.
  if (migration)
    throw new InvalidOptionError(
      'leader-elect-coordinated',
      'cannot be together with leader-migration-config',
    );
  if (decided['leader-elect-resource-lock'] !== 'leases')
    throw new InvalidOptionError('leader-elect-coordinated', 'needs leader-elect-resource-lock=leases');
  if (!CANDIDATE_NAME.test(identity))
    throw new InvalidOptionError(
      'identity',
      'must be up to 216 letters, digits, dots, hyphens and underscores with leader-elect-coordinated',
    );
}
