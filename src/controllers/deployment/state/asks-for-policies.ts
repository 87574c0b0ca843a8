import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';
import type { Annotations } from '../kubernetes/annotations.js';
import type { RolloutDraft } from '../kubernetes/draft.js';
import { PROGRESS_REASONS } from '../kubernetes/reasons.js';
import { PREFIX } from '../policies/common/names.js';
import type { Surroundings } from '../policies/policies.js';

/** The conditions that Kubernetes writes. */
const CONDITIONS: ReadonlySet<string> = new Set(['Available', 'Progressing', 'ReplicaFailure']);

/** The field of KEP-5882, which asks for the policy of the same name. */
const POD_REPLACEMENT_POLICY = 'podReplacementPolicy';

/**
 * Whether a policy could have a part in a pass. If not, the pass is the algorithm of Kubernetes alone, and no policy is
 * compiled or called. A policy has a part if an annotation or a field asks for it, if it has left a trace on the Deployment
 * or its ReplicaSets, or if the controller runs with an option that applies to every Deployment.
 */
export function mayBeUnderPolicies(
  { annotations, observed, replicaSets, spec }: RolloutDraft,
  namespaceAnnotations: Annotations | undefined,
  { configuration, services, turns }: Surroundings = {},
): boolean {
  return (
    asksForPolicies(annotations, namespaceAnnotations) ||
    [configuration, services, turns].some((each) => each !== undefined && each !== 'off') ||
    POD_REPLACEMENT_POLICY in spec ||
    (observed.status?.conditions ?? []).some(isOfPolicy) ||
    replicaSets.some((replicaSet) => hasPolicyAnnotation(replicaSet.annotations))
  );
}

/** Whether annotations of a Deployment, or the defaults of its Namespace, may ask for a policy. */
export function asksForPolicies(own: Annotations | undefined, namespace: Annotations | undefined): boolean {
  return hasPolicyAnnotation(own) || hasPolicyAnnotation(namespace);
}

function hasPolicyAnnotation(annotations: Annotations = {}): boolean {
  for (const name in annotations) if (name.startsWith(PREFIX) && name !== TRACE_ANNOTATION) return true;
  return false;
}

function isOfPolicy({ reason, type }: { readonly reason?: string; readonly type: string }): boolean {
  if (!CONDITIONS.has(type)) return true;
  return type === 'Progressing' && reason !== undefined && !PROGRESS_REASONS.has(reason);
}
