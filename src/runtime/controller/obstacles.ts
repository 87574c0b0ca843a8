import { apiStatusOf } from '@rollkeeper/client/api-client/api-status-error';
import type { ResourceEvent } from '@rollkeeper/client/informer/informer';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Namespace, ServiceAccount, sameJson } from '@rollkeeper/machinery/kubernetes';

/** A type whose objects decide whether the API server accepts a write. */
export interface Obstacle {
  readonly type: ResourceType;
  /** Whether this change may turn a refusal into an acceptance. Only metadata is known of the objects. */
  mayClear(this: void, event: ResourceEvent<KubernetesObject>): boolean;
}

/** Answers that have nothing to do with what others have set up: renewed credentials, conflicts, an overloaded server. */
const RESOLVED_BY_RETRIES: ReadonlySet<number> = new Set([401, 408, 409, 410, 429]);

/**
 * Whether the failure may be over as soon as one of the {@link OBSTACLES} changes. A 404 may be of a missing definition
 * or namespace, and a 500 of a webhook that does not answer.
 */
export function isObstructed(error: unknown): boolean {
  const status = apiStatusOf(error);
  return status !== undefined && !RESOLVED_BY_RETRIES.has(status.code);
}

/**
 * The namespace in which the change matters; undefined: in all of them.
 * @param type of the changed object
 */
export function scopeOf(
  type: ResourceType,
  { metadata }: DeepReadonly<KubernetesObject>,
): string | undefined {
  if (type.namespaced) return metadata.namespace;
  return type === Namespace ? metadata.name : undefined;
}

const ADMISSION = 'admissionregistration.k8s.io';
const RBAC = 'rbac.authorization.k8s.io';

/**
 * The kinds of objects that admission and authorization go by. Quotas are not among them: controllers watch for the
 * room that they free (`watchFreedRoom`), which only their content shows.
 */
export const OBSTACLES: readonly Obstacle[] = [
  // Labels select Pod Security levels and policies; conditions of policies read annotations as well.
  { type: Namespace, mayClear: isRelabelled },
  { type: ServiceAccount, mayClear: isNew },
  any('', 'limitranges', 'LimitRange', true),
  any('scheduling.k8s.io', 'priorityclasses', 'PriorityClass', false),
  any('node.k8s.io', 'runtimeclasses', 'RuntimeClass', false),
  any('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', false),
  policy('validatingadmissionpolicies', 'ValidatingAdmissionPolicy'),
  policy('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding'),
  policy('mutatingadmissionpolicies', 'MutatingAdmissionPolicy'),
  policy('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding'),
  policy('validatingwebhookconfigurations', 'ValidatingWebhookConfiguration'),
  policy('mutatingwebhookconfigurations', 'MutatingWebhookConfiguration'),
  any(RBAC, 'roles', 'Role', true),
  any(RBAC, 'rolebindings', 'RoleBinding', true),
  any(RBAC, 'clusterroles', 'ClusterRole', false),
  any(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', false),
];

function any(group: string, resource: string, kind: string, namespaced: boolean): Obstacle {
  return { type: { group, version: 'v1', resource, kind, namespaced }, mayClear: () => true };
}

/** The status of a policy changes with each of its type checks. */
function policy(resource: string, kind: string): Obstacle {
  return { ...any(ADMISSION, resource, kind, false), mayClear: isRewritten };
}

function isNew({ type }: ResourceEvent<KubernetesObject>): boolean {
  return type === 'added';
}

function isRewritten(event: ResourceEvent<KubernetesObject>): boolean {
  if (event.type !== 'modified') return true;
  return event.old.metadata.generation !== event.object.metadata.generation;
}

function isRelabelled(event: ResourceEvent<KubernetesObject>): boolean {
  if (event.type !== 'modified') return event.type === 'added';
  const [old, now] = [event.old.metadata, event.object.metadata];
  return !sameJson(old.labels, now.labels) || !sameJson(old.annotations, now.annotations);
}
