export { attributesOf } from './request-attributes.js';
export { Router } from './router.js';
export type { AccessControl } from './router.js';
