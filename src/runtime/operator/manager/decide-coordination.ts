import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/**
 * How the replicas of an operator share their work.
 *
 * - `redis`: all replicas process keys; queues, locks, back-off and intents are in one Redis.
 * - `leases`: the holder of a Lease processes keys alone, from a queue in its memory; the others keep their caches warm.
 * - `local`: there is one process, and no election.
 *
 * docs/KIT.md says what each of them promises.
 */
export type CoordinationMode = 'redis' | 'leases' | 'local';

const COORDINATION_MODES: readonly CoordinationMode[] = ['redis', 'leases', 'local'];

type Lock = 'redis' | 'leases' | 'none';

/** Options that depend on the mode, as given. */
interface ModeFacts {
  /** Undefined: the coordination itself is given. */
  readonly mode: CoordinationMode | undefined;
  readonly lock?: Lock | undefined;
  readonly reconcileOn?: 'all' | 'leader' | undefined;
  readonly redisUrl?: string | undefined;
}

const LOCK_OF: Readonly<Record<CoordinationMode, Lock>> = { redis: 'redis', leases: 'leases', local: 'none' };

/**
 * Decides the store of the lease.
 * @throws InvalidOptionError for an option that contradicts the mode
 */
export function decideLock({ lock, mode, reconcileOn, redisUrl }: ModeFacts): Lock {
  if (mode === undefined || mode === 'redis') return lock ?? 'redis';
  const needed = LOCK_OF[mode];
  if (lock !== undefined && lock !== needed)
    throw new InvalidOptionError('leaderElection.lock', `must be ${needed} with coordination: '${mode}'`);
  if (redisUrl !== undefined)
    throw new InvalidOptionError('redisUrl', `is not used with coordination: '${mode}'`);
  if (mode === 'leases' && reconcileOn === 'all')
    throw new InvalidOptionError('reconcileOn', "must be leader with coordination: 'leases'");
  return needed;
}

/** @throws InvalidOptionError */
export function modeOf(coordination: unknown): CoordinationMode | undefined {
  if (coordination === undefined) return 'redis';
  if (typeof coordination === 'function') return undefined;
  const mode = COORDINATION_MODES.find((each) => each === coordination);
  if (!mode)
    throw new InvalidOptionError(
      'coordination',
      `must be ${COORDINATION_MODES.join(', ')}, or made by a function such as redisCoordination`,
    );
  return mode;
}
