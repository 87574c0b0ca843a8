import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { CoordinationReach } from './coordination.js';

type WorkingReplicas = 'all' | 'leader';

export interface ReconcileOnFacts {
  /** Of the coordination. @default 'network' */
  readonly reach?: CoordinationReach | undefined;
  readonly lock: 'redis' | 'leases' | 'none';
  /** As asked for. */
  readonly reconcileOn?: WorkingReplicas | undefined;
  /** Whether the user says that no other process runs such a manager. */
  readonly onlyProcess: boolean;
}

/**
 * Who works on keys. Where the coordination cannot see other processes, only something else keeps two of them off the same key: that
 * there is no other, or a lease in the API, whose holder alone works then.
 * @throws InvalidOptionError
 */
export function decideReconcileOn({
  lock,
  onlyProcess,
  reach,
  reconcileOn,
}: ReconcileOnFacts): WorkingReplicas {
  if (onlyProcess || reach !== 'process') return reconcileOn ?? 'all';
  if (lock !== 'leases')
    throw new InvalidOptionError(
      'coordination',
      "cannot see other processes, and two of them would lead side by side: say leaderElection: { lock: 'leases' }, use Redis, or say onlyProcess: true where there is no other process",
    );
  if (reconcileOn === 'all')
    throw new InvalidOptionError(
      'reconcileOn',
      'must be leader with a coordination that cannot see other processes, unless onlyProcess: true: two would work on one key',
    );
  return 'leader';
}
