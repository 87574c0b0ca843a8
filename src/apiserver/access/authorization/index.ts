export type { AccessAttributes, ResourceAttributes } from '../../cel/library/access-attributes.js';
export { Authorizer } from './authorizer.js';
export { NodeAccess } from './node-access.js';
export { describeRefusal } from './decide-access.js';
export type { AccessDecision, HeldRules } from './decide-access.js';
export { uncovered } from './policy-rule.js';
export type { PolicyRule } from './policy-rule.js';
export { isImpersonating, readImpersonation } from './impersonation.js';
