export { definitionsIn, modulesOf, rightsIn } from './exports-of-modules.js';
export type { ModuleExports } from './exports-of-modules.js';
export { rolesOf } from './roles.js';
export type { RoleOptions } from './roles.js';
export { typesOf } from './types-of-definitions.js';
export type { ServedDefinition } from './types-of-definitions.js';
