export type { AccessAttributes, PathAttributes, ResourceAttributes } from './access-attributes.js';
export { ClusterRoleAggregation, decideAggregatedRules } from './aggregate-cluster-roles.js';
export { Authorizer } from './authorizer.js';
export type { AccessDecision, HeldRules } from './decide-access.js';
export { uncovered } from './policy-rule.js';
export type { PolicyRule } from './policy-rule.js';
export { isImpersonating, readImpersonation } from './impersonation.js';
