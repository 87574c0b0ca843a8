import { checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type { ClusterRole as IClusterRole, Role as IRole } from '@rollkeeper/machinery/types/rbac-v1';
import type { Decoded, DecodedObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

import { CREATED_AT, NAME, printed } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { RBAC_GROUP, validateRules } from './rules.js';

type Role = DecodedObject<IRole>;
type ClusterRole = DecodedObject<IClusterRole>;

const COLUMNS = printed<UnstructuredObject>(NAME, CREATED_AT);

/** Source: ValidateRole in pkg/apis/rbac/validation/validation.go. */
/** As in Go, where a list that is not there is null. */
function writeNoRules(object: { rules?: unknown }): void {
  object.rules ??= null;
}

export const ROLE_KIND = defineKind<Role>({
  type: { group: RBAC_GROUP, version: 'v1', resource: 'roles', kind: 'Role', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.rbac.v1.Role',
  createsOnUpdate: true,
  checkName: checkPathSegment,
  ...COLUMNS,
  applyDefaults: writeNoRules,
  validate: ({ rules }, errors) => validateRules(rules, true, errors),
});

export const CLUSTER_ROLE_KIND = defineKind<ClusterRole>({
  type: {
    group: RBAC_GROUP,
    version: 'v1',
    resource: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.rbac.v1.ClusterRole',
  createsOnUpdate: true,
  checkName: checkPathSegment,
  ...COLUMNS,
  applyDefaults: writeNoRules,
  validate(object, errors) {
    validateRules(object.rules, false, errors);
    if (object.aggregationRule) validateAggregation(object.aggregationRule, errors);
  },
});

function validateAggregation(
  { clusterRoleSelectors: selectors = [] }: NonNullable<Decoded<IClusterRole>['aggregationRule']>,
  errors: FieldError[],
): void {
  const path = 'aggregationRule.clusterRoleSelectors';
  if (selectors.length === 0)
    errors.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  selectors.forEach((selector, index) => {
    const before = errors.length;
    validateLabelSelector(selector, `${path}[${index}]`, errors);
    if (errors.length > before) errors.push(invalid(`${path}[${index}]`, null, 'invalid label selector.'));
  });
}
