import type { ClusterRoleBinding, RoleBinding } from '@rollkeeper/machinery/types/rbac-v1';
import type { Decoded, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { checkPathSegment, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown, wide } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { KindRules } from '../define-kind.js';
import { invalid } from '../validation/field-errors.js';
import { RBAC_GROUP, validateBinding } from './rules.js';

type Binding = (Decoded<RoleBinding> | Decoded<ClusterRoleBinding>) & UnstructuredObject;

/** Source: pkg/apis/rbac (validateRoleBinding, defaults). */
function bindingRules(isNamespaced: boolean): Omit<KindRules<Binding>, 'type' | 'schema'> {
  const subjects = (kind: string) => (binding: Readonly<Binding>) =>
    (binding.subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
      .join(', ');
  return {
    ownershipFrom: 'creation',
    createsOnUpdate: true,
    checkName: checkPathSegment,
    ...printed<Binding>(
      NAME,
      shown('Role', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
      AGE,
      wide('Users', subjects('User')),
      wide('Groups', subjects('Group')),
      wide('ServiceAccounts', subjects('ServiceAccount')),
    ),
    applyDefaults(object) {
      if (object.roleRef) object.roleRef.apiGroup ||= RBAC_GROUP;
      for (const subject of object.subjects ?? []) {
        if (subject.apiGroup) continue;
        if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup = RBAC_GROUP;
      }
    },
    validate: (object, errors) => validateBinding(object, isNamespaced, errors),
    validateUpdate(object, old, _subresource, errors, validateMetaAgain) {
      validateBinding(object, isNamespaced, errors);
      validateMetaAgain();
      if (!sameMeaning(object.roleRef, old.roleRef))
        errors.push(invalid('roleRef', internalRef(object.roleRef), 'cannot change roleRef'));
    },
  };
}

/** As the fields are called inside a genuine server. */
function internalRef({
  apiGroup = '',
  kind = '',
  name = '',
}: Partial<NonNullable<Binding['roleRef']>> = {}): object {
  return { APIGroup: apiGroup, Kind: kind, Name: name };
}

export const ROLE_BINDING_KIND = defineKind<Binding>({
  ...bindingRules(true),
  type: { group: RBAC_GROUP, version: 'v1', resource: 'rolebindings', kind: 'RoleBinding', namespaced: true },
  schema: 'io.k8s.api.rbac.v1.RoleBinding',
});

export const CLUSTER_ROLE_BINDING_KIND = defineKind<Binding>({
  ...bindingRules(false),
  type: {
    group: RBAC_GROUP,
    version: 'v1',
    resource: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    namespaced: false,
  },
  schema: 'io.k8s.api.rbac.v1.ClusterRoleBinding',
});
