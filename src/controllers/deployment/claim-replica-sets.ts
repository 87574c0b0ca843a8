import type { ApiClient, Lister } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX, unlessGone } from '@rollkeeper/runtime';
import { StaleCacheError } from '@rollkeeper/machinery/errors';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment, LabelMatcher, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { ClaimDecision } from '../shared/index.js';
import { ORPHAN_INDEX, decideClaims } from '../shared/index.js';
import { typeOfDeployment } from './kubernetes/deployment-api.js';
import { EXPERIMENT, abandonedBy, isExperimentOf } from './policies/experiment/experiment-sets.js';

/** The ReplicaSets of a pass. */
export interface ReplicaSetClaims extends ClaimDecision<DeepReadonly<ReplicaSet>> {
  /** The ReplicaSets of its experiments, which it owns and does not control, and those that a former Deployment of its name has left. */
  readonly experiments: readonly DeepReadonly<ReplicaSet>[];
}

/**
 * Finds a Deployment's ReplicaSets by its UID, and the orphans of its namespace that it selects; other owners' objects
 * are not read. Adoption and release are part of the ReplicaSet's one write of the pass.
 */
export function claimReplicaSets(
  deployment: DeepReadonly<Deployment>,
  selects: LabelMatcher,
  replicaSets: Lister<ReplicaSet>,
): ReplicaSetClaims {
  const { name, namespace, uid } = deployment.metadata;
  const candidates = [
    ...replicaSets.byIndex(OWNER_UID_INDEX, uid ?? ''),
    ...replicaSets.byIndex(ORPHAN_INDEX, namespace ?? ''),
  ].filter((candidate) => candidate.metadata.namespace === namespace);
  // A selector that is made of expressions may match those of experiments, which have no controller.
  const marked = candidates.filter(
    (each) => each.metadata.labels?.[EXPERIMENT] !== undefined && !controllerOf(each),
  );
  const others = marked.length === 0 ? candidates : candidates.filter((each) => !marked.includes(each));
  // Each is found twice: by its owner, and as one that has no controller.
  const experiments = [...new Set(marked)].filter(
    (each) => isExperimentOf(each, uid) || abandonedBy(each) === name,
  );
  return { ...decideClaims({ owner: deployment, selects, candidates: others }), experiments };
}

/** The ReplicaSets of experiments that a deleted Deployment has left. @param replicaSets with ORPHAN_INDEX */
export function experimentsLeftBy(
  namespace: string,
  deployment: string,
  replicaSets: Lister<ReplicaSet>,
): readonly DeepReadonly<ReplicaSet>[] {
  return replicaSets.byIndex(ORPHAN_INDEX, namespace).filter((each) => abandonedBy(each) === deployment);
}

/**
 * Checks with the API, bypassing the cache, whether the Deployment that wants to adopt still exists unchanged.
 * Otherwise a Deployment deleted with `--cascade=orphan` would adopt its ReplicaSets again.
 * @throws StaleCacheError if it was deleted, replaced, or is being deleted: retry when the cache knows that too
 */
export async function recheckBeforeAdoption(
  deployment: DeepReadonly<Deployment>,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const asked = client.get<Deployment>(typeOfDeployment(deployment), deployment.metadata, { signal });
  const fresh = await unlessGone(asked);
  const { namespace, name, uid } = deployment.metadata;
  if (fresh?.metadata.uid !== uid) {
    throw new StaleCacheError(`original Deployment ${namespace}/${name} is gone: wanted UID ${uid}`);
  }
  if (fresh?.metadata.deletionTimestamp !== undefined) {
    throw new StaleCacheError(`Deployment ${namespace}/${name} has just been deleted`);
  }
}
