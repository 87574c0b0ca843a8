import type { FileTemplate, ResolvedTemplate } from '@rollkeeper/controllers/deployment';
import { REVISION, latestReplicaSet } from '@rollkeeper/controllers/deployment';
import type { DeepReadonly, Deployment, PodTemplateSpec, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy } from '@rollkeeper/machinery/kubernetes';

/** The objects from which the template of a Deployment is taken. */
export interface DeploymentObjects {
  readonly deployment: DeepReadonly<Deployment>;
  /** All ReplicaSets of its namespace. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
}

/** Why a template cannot be taken, with the field of the template. */
export interface TemplateProblem {
  readonly field: keyof FileTemplate;
  readonly problem: string;
}

/**
 * The pods that a template of a file asks for. Pure.
 * @param objects undefined: there is no such Deployment, or the template is the file's own
 */
export function resolveTemplate(
  asked: FileTemplate,
  objects: DeploymentObjects | undefined,
): ResolvedTemplate | TemplateProblem {
  if (asked.template) return { asked, pods: asked.template };
  const name = asked.deployment ?? '';
  if (!objects) return { field: 'deployment', problem: `there is no Deployment ${name}` };
  const { deployment } = objects;
  const own = objects.replicaSets.filter((set) => isControlledBy(set, deployment));
  const latest = latestReplicaSet(deployment, own);
  if (asked.revision !== undefined) {
    const found = own.find((set) => set.metadata.annotations?.[REVISION] === String(asked.revision));
    return found
      ? ofReplicaSet(asked, found)
      : { field: 'revision', problem: `Deployment ${name} has no revision ${asked.revision}` };
  }
  const chosen = asked.version === 'baseline' ? (servingBeside(own, latest) ?? latest) : latest;
  if (chosen) return ofReplicaSet(asked, chosen);
  if (asked.version === 'baseline')
    return { field: 'version', problem: `Deployment ${name} has no version that runs yet` };
  return { asked, pods: deployment.spec.template as PodTemplateSpec };
}

/** The version with the most available pods, apart from the newest. */
function servingBeside(
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
  latest: DeepReadonly<ReplicaSet> | undefined,
): DeepReadonly<ReplicaSet> | undefined {
  const others = replicaSets.filter((set) => set !== latest && (set.spec.replicas ?? 1) > 0);
  return others.toSorted((a, b) => availableOf(b) - availableOf(a))[0];
}

function availableOf({ status }: DeepReadonly<ReplicaSet>): number {
  return Number(status?.availableReplicas ?? 0);
}

function ofReplicaSet(asked: FileTemplate, { metadata, spec }: DeepReadonly<ReplicaSet>): ResolvedTemplate {
  const revision = metadata.annotations?.[REVISION];
  return {
    asked,
    pods: (spec.template ?? {}) as PodTemplateSpec,
    ...(revision !== undefined && { revision }),
  };
}
