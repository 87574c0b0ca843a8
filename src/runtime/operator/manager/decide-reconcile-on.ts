import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { CoordinationReach } from '../coordination/coordination.js';

type WorkingReplicas = 'all' | 'leader';

interface ReconcileOnFacts {
  /** The coordination's. @default 'network' */
  readonly reach?: CoordinationReach | undefined;
  readonly lock: 'redis' | 'leases' | 'none';
  /** As configured. */
  readonly reconcileOn?: WorkingReplicas | undefined;
  /** Whether the user asserts that no other process runs such a manager. */
  readonly onlyProcess: boolean;
}

/**
 * Decides which replicas process keys. If the coordination cannot see other processes, keys are only exclusive if there
 * is no other process, or if a lease in the API makes its holder the only worker.
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
      "cannot see other processes, and two of them would lead side by side: say coordination: 'leases', use Redis, or say onlyProcess: true where there is no other process",
    );
  if (reconcileOn === 'all')
    throw new InvalidOptionError(
      'reconcileOn',
      'must be leader with a coordination that cannot see other processes, unless onlyProcess: true: two would work on one key',
    );
  return 'leader';
}
