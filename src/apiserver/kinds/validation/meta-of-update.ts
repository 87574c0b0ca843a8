import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError, Subresource } from '../kind-definition.js';
import type { MetaRules } from './object-meta.js';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.js';

/**
 * Kinds whose own rules look at the whole `metadata` of an update again, beside what an update may not change. A refusal
 * has a cause for each time that something is found, so programs see these repetitions. Recorded from a genuine server.
 */
const WHOLE_AGAIN: ReadonlySet<string> = new Set([
  ...['APIService', 'CertificateSigningRequest', 'ClusterRole', 'ClusterRoleBinding', 'ConfigMap'],
  ...['ControllerRevision', 'CSIStorageCapacity', 'DeviceClass', 'Endpoints', 'Ingress', 'IngressClass'],
  ...['IPAddress', 'Job', 'Namespace', 'Node', 'PersistentVolumeClaim', 'Pod', 'ResourceClaim'],
  ...['ResourceClaimTemplate', 'Role', 'RoleBinding', 'RuntimeClass', 'Secret', 'ServiceAccount'],
  ...['StorageClass', 'VolumeAttributesClass'],
]);
/** Kinds that validate it again, without the fields that may not change. */
const WHOLE_ONLY: ReadonlySet<string> = new Set([
  ...['CSINode', 'FlowSchema', 'LimitRange', 'MutatingWebhookConfiguration', 'PriorityLevelConfiguration'],
  ...['ValidatingAdmissionPolicy', 'VolumeAttachment'],
]);
/** Kinds that look at the whole object first, and then at what the update changes: metadata among it. */
const IN_TWO_PARTS: ReadonlySet<string> = new Set(['ClusterRoleBinding', 'Job', 'RoleBinding']);
const NEITHER: ReadonlySet<string> = new Set(['PodDisruptionBudget']);

/**
 * The faults of an update's `metadata`: by the rules for every kind, and by those of the kind once more. Source:
 * BeforeUpdate in apiserver/pkg/registry/rest, and the ValidateUpdate of each kind's strategy.
 * @returns what the rules of the kind find in `metadata` in the midst of the rest
 */
export function validateMetaOfUpdate(
  object: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject>,
  rules: MetaRules & { readonly kind: string; readonly subresource: Subresource },
  errors: FieldError[],
): () => void {
  const { kind, subresource } = rules;
  const nothing = (): void => undefined;
  // The name is that of an object that is there.
  const whole = (): void => validateObjectMeta(object, rules, errors, 'known name');
  const changes = (): void => validateObjectMetaUpdate(object, old, errors);
  const before = errors.length;
  whole();
  changes();
  if (errors.length === before || NEITHER.has(kind)) return nothing;
  if (kind === 'PersistentVolume') {
    whole();
    whole();
    return nothing;
  }
  if (subresource === '' && IN_TWO_PARTS.has(kind)) {
    whole();
    return changes;
  }
  const isOnly = WHOLE_ONLY.has(kind);
  if (!isOnly) changes();
  if (subresource === '' && (isOnly || WHOLE_AGAIN.has(kind))) whole();
  return nothing;
}
