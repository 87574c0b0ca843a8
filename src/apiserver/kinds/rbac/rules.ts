import { checkDns1123Subdomain, checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { PolicyRule, RoleRef, Subject } from '@rollkeeper/machinery/types/rbac-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Source: ValidatePolicyRule in pkg/apis/rbac/validation/validation.go. */
export function validateRules(
  rules: readonly Decoded<PolicyRule>[] | undefined | null,
  isNamespaced: boolean,
  errors: FieldError[],
): void {
  rules?.forEach((rule, index) => {
    const path = `rules[${index}]`;
    const { verbs = [], nonResourceURLs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
    if (verbs.length === 0) errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
    if (nonResourceURLs.length > 0) {
      if (isNamespaced)
        errors.push(
          invalid(
            `${path}.nonResourceURLs`,
            nonResourceURLs,
            'namespaced rules cannot apply to non-resource URLs',
          ),
        );
      if (apiGroups.length + resources.length + resourceNames.length > 0)
        errors.push(
          invalid(
            `${path}.nonResourceURLs`,
            nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        );
      return;
    }
    if (apiGroups.length === 0)
      errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    if (resources.length === 0)
      errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  });
}

/** Source: validateRoleBinding. */
export function validateBinding(
  { roleRef = {}, subjects = [] }: { roleRef?: Decoded<RoleRef>; subjects?: readonly Decoded<Subject>[] },
  isNamespaced: boolean,
  errors: FieldError[],
): void {
  if (roleRef.apiGroup !== RBAC_GROUP)
    errors.push(notSupported('roleRef.apiGroup', roleRef.apiGroup ?? '', [RBAC_GROUP]));
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (!kinds.includes(roleRef.kind ?? ''))
    errors.push(notSupported('roleRef.kind', roleRef.kind ?? '', kinds));
  if (!roleRef.name) errors.push(required('roleRef.name'));
  else validateSyntax(roleRef.name, checkPathSegment, 'roleRef.name', errors);
  subjects.forEach((subject, index) => validateSubject(subject, isNamespaced, `subjects[${index}]`, errors));
}

function validateSubject(
  { name, kind, apiGroup = '', namespace }: Decoded<Subject>,
  isNamespaced: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(`${path}.name`));
  switch (kind) {
    case 'ServiceAccount':
      if (name) validateSyntax(name, checkDns1123Subdomain, `${path}.name`, errors);
      if (apiGroup !== '') errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']));
      if (!isNamespaced && !namespace) errors.push(required(`${path}.namespace`));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== RBAC_GROUP) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [RBAC_GROUP]));
      break;
    default:
      errors.push(notSupported(`${path}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group']));
  }
}
