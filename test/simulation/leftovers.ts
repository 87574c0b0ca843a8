import { errorMessage } from '../../src/machinery/errors/index.js';
import type { RunningReplica, WorldStore } from '../../src/testing/simulation/index.js';
import type { Violation } from '../chaos/checkers/violation.js';
import type { StoreChecks } from './store-checks.js';

/** The remains of a replica that has ended: a timer would still do something. */
export function leftByEnded({ failure, process }: RunningReplica): Violation[] {
  const { name, clock } = process;
  const found = (problem: string): Violation[] => [{ check: 'leftovers', subject: name, problem }];
  if (failure !== undefined) return found(`ended with ${errorMessage(failure)}`);
  return clock.pendingTimers > 0 ? found(`${clock.pendingTimers} timers of a stopped replica`) : [];
}

/**
 * The remains of replicas that were stopped: there must be none. A queue that loses its keys also loses those of objects
 * that are gone, and no later leader adds these again: their state stays until it expires.
 */
export function checkLeftovers(
  replicas: readonly RunningReplica[],
  store: Pick<WorldStore, 'unanswered' | 'hasIntents'>,
  { isOfDeleted, replay }: Pick<StoreChecks, 'isOfDeleted' | 'replay'>,
): Violation[] {
  const left: Violation[] = [];
  const found = (subject: string, problem: string): number =>
    left.push({ check: 'leftovers', subject, problem });
  for (const replica of replicas) {
    if (!replica.hasEnded) found(replica.process.name, 'does not stop');
    else left.push(...leftByEnded(replica));
  }
  for (const [{ controller, key }, writes] of store.unanswered()) {
    if (isOfDeleted(controller, key)) continue;
    found(`${controller} ${key}`, `${writes} writes without an answer`);
  }
  for (const { metadata } of replay.replicaSets.values()) {
    const key = `${metadata.namespace}/${metadata.name}`;
    if (store.hasIntents({ controller: 'replicaset', key }))
      found(key, 'has intents that were never settled');
  }
  return left;
}
