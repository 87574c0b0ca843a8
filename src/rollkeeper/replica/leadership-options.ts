import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { LeaderMigration } from './leader-migration.js';
import { LEADERSHIP_DEFAULTS } from './replica-options.table.js';

/** The options of the leadership that depend on each other. */
export interface LeadershipOptions {
  /** `none`: this replica leads without being elected. */
  readonly 'leader-elect-resource-lock': 'redis' | 'leases' | 'none';
  readonly 'leader-elect-resource-name': string;
  readonly 'leader-takeover': 'witness' | 'expiry';
  readonly 'reconcile-on': 'all' | 'leader';
}

export type GivenLeadershipOptions = {
  readonly [Option in keyof LeadershipOptions]?: LeadershipOptions[Option] | undefined;
} & {
  readonly identity: string;
  readonly 'leader-elect': boolean;
  readonly 'leader-elect-coordinated': boolean;
};

/** What may stand in the name of a LeaseCandidate, of up to 253 characters; 37 are the id of the process's life. */
const CANDIDATE_NAME = /^[\w.-]{1,216}$/;

/**
 * With their defaults. While controllers go over from or to a component that knows nothing of our Redis, nothing of ours may
 * run beside it: what a migration shares is a Lease, only its holder works on keys, and nobody takes it before its end.
 * @param defaultName of the Lease
 * @throws InvalidOptionError
 */
export function decideLeadershipOptions(
  given: GivenLeadershipOptions,
  migration: LeaderMigration | undefined,
  defaultName: string = LEADERSHIP_DEFAULTS.name,
): LeadershipOptions {
  if (!given['leader-elect']) assertNeedsNoElection(given, migration);
  const lock = given['leader-elect-resource-lock'] ?? (migration ? 'leases' : LEADERSHIP_DEFAULTS.lock);
  const decided = {
    'leader-elect-resource-lock': given['leader-elect'] ? lock : 'none',
    'leader-elect-resource-name': given['leader-elect-resource-name'] ?? migration?.leaderName ?? defaultName,
    'leader-takeover': given['leader-takeover'] ?? (migration ? 'expiry' : LEADERSHIP_DEFAULTS.takeover),
    'reconcile-on': given['reconcile-on'] ?? (migration ? 'leader' : LEADERSHIP_DEFAULTS.reconcileOn),
  } as const;
  if (migration) assertFitsMigration(decided, migration);
  if (given['leader-elect-coordinated']) assertMayStand(given.identity, decided, migration);
  return decided;
}

function assertNeedsNoElection(given: GivenLeadershipOptions, migration: LeaderMigration | undefined): void {
  const needing = migration ? 'leader-migration-config' : 'leader-elect-coordinated';
  if (migration || given['leader-elect-coordinated'])
    throw new InvalidOptionError('leader-elect', `cannot be false with ${needing}`);
}

function assertFitsMigration(decided: LeadershipOptions, { leaderName }: LeaderMigration): void {
  const needed = {
    ...{ 'leader-elect-resource-lock': 'leases', 'leader-elect-resource-name': leaderName },
    'reconcile-on': 'leader',
  } as const;
  for (const option of Object.keys(needed) as (keyof typeof needed)[]) {
    if (decided[option] !== needed[option])
      throw new InvalidOptionError(option, `must be ${needed[option]} with leader-migration-config`);
  }
}

function assertMayStand(
  identity: string,
  decided: LeadershipOptions,
  migration: LeaderMigration | undefined,
): void {
  // A coordinator would give the Lease to us alone: the other component does not stand for it.
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
