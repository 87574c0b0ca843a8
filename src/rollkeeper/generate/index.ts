export { definitionsIn, modulesOf, rightsIn } from './exports-of-modules.js';
export type { ModuleExports } from './exports-of-modules.js';
export { writeOperator } from './operator/index.js';
export type { NewOperator } from './operator/index.js';
export { rolesOf } from './roles.js';
export type { RoleOptions } from './roles.js';
export { typesOf } from './types-of-definitions.js';
export type { ServedDefinition } from './types-of-definitions.js';
