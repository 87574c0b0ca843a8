import type { Deployment, PodTemplateSpec, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy, writableCopy } from '@rollkeeper/machinery/kubernetes';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import {
  CHANGE_CAUSE,
  completed,
  foreseeRollback,
  readRevision,
  withoutHash,
} from '@rollkeeper/controllers/deployment';

export interface Revision {
  readonly number: bigint;
  readonly changeCause?: string;
  readonly template: PodTemplateSpec;
}

/** The revisions available for a rollback, oldest first. */
export function revisionsOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): readonly Revision[] {
  return replicaSets
    .filter((replicaSet) => isControlledBy(replicaSet, deployment))
    .flatMap(({ metadata, spec }) => {
      const number = readRevision(metadata.annotations) ?? 0n;
      const changeCause = metadata.annotations?.[CHANGE_CAUSE];
      if (number === 0n) return [];
      const template = writableCopy<PodTemplateSpec>(withoutHash(spec.template ?? {}));
      return [{ number, changeCause, template }];
    })
    .sort((a, b) => (a.number < b.number ? -1 : 1));
}

/**
 * The Deployment with the template and annotations of an earlier revision.
 * @param revision 0n: the one before the newest
 * @throws UnsupportedError if there is no such revision, with the reason
 */
export function rolledBack(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
  revision: bigint,
): Deployment {
  const owned = replicaSets.filter((replicaSet) => isControlledBy(replicaSet, deployment));
  const foreseen = foreseeRollback({ deployment: completed(deployment), replicaSets: owned }, revision);
  if ('refused' in foreseen) throw new UnsupportedError(foreseen.refused);
  const { annotations, template } = foreseen;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, template: writableCopy<PodTemplateSpec>(template) },
  };
}
