import { isDeepStrictEqual } from 'node:util';
import type { Deployment, PodTemplateSpec } from '../../../src/machinery/kubernetes/index.js';
import type { AcknowledgedChange } from '../acknowledged-changes.js';
import type { StoreReplay } from './store-replay.js';
import type { Violation } from './violation.js';

const ADMISSION_DIGEST = 'rollkeeper.dev/admission-digest';

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

/** A restart on admission writes into the template of a user. */
function withoutRestart(template: PodTemplateSpec): PodTemplateSpec {
  const { [ADMISSION_DIGEST]: _digest, ...others } = template.metadata?.annotations ?? {};
  const annotations = Object.keys(others).length > 0 ? others : undefined;
  return { ...template, metadata: { ...template.metadata, annotations } };
}

function problemOf(change: AcknowledgedChange, stored: Deployment | undefined): string | undefined {
  if (change.isUncertain) return undefined;
  if (change.wish === undefined)
    return stored ? `${change.operation} was acknowledged and it is there` : undefined;
  if (!stored) return `${change.operation} was acknowledged and it is gone`;
  const { paused, replicas, template } = stored.spec;
  const asked = { ...change.wish, template: withoutRestart(change.wish.template) };
  if (!isDeepStrictEqual({ paused: paused ?? false, replicas, template: withoutRestart(template) }, asked))
    return `${change.operation} was acknowledged and something else is stored`;
  const { metadata, status } = stored;
  const isRolledOut =
    status?.observedGeneration === metadata.generation &&
    [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every(
      (count) => (count ?? 0) === replicas,
    );
  return isRolledOut ? undefined : `${change.operation} was acknowledged and is not rolled out`;
}
