import { isDeepStrictEqual } from 'node:util';
import type { Deployment } from '../../../src/machinery/kubernetes/index.js';
import type { AcknowledgedChange } from '../load.js';
import type { StoreReplay } from './store-replay.js';
import type { Violation } from './violation.js';

/**
 * (e) At rest, every acknowledged change of a user is reflected: of each name the last acknowledged change is what
 * the store holds and what was rolled out, unless the outcome of a later one is unknown.
 */
export function findLostChanges(last: Iterable<AcknowledgedChange>, replay: StoreReplay): Violation[] {
  const byName = new Map([...replay.deployments.values()].map((object) => [object.metadata.name, object]));
  return [...last].flatMap((change) => {
    const problem = problemOf(change, byName.get(change.name));
    return problem === undefined ? [] : [{ check: 'acknowledged changes', subject: change.name, problem }];
  });
}

function problemOf(change: AcknowledgedChange, stored: Deployment | undefined): string | undefined {
  if (change.isUncertain) return undefined;
  if (change.wish === undefined)
    return stored ? `${change.operation} was acknowledged and it is there` : undefined;
  if (!stored) return `${change.operation} was acknowledged and it is gone`;
  const { paused, replicas, template } = stored.spec;
  if (!isDeepStrictEqual({ paused: paused ?? false, replicas, template }, { ...change.wish }))
    return `${change.operation} was acknowledged and something else is stored`;
  const { metadata, status } = stored;
  const isRolledOut =
    status?.observedGeneration === metadata.generation &&
    [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every(
      (count) => (count ?? 0) === replicas,
    );
  return isRolledOut ? undefined : `${change.operation} was acknowledged and is not rolled out`;
}
