export { listObjects } from './list-objects.js';
export type { ObjectList } from './list-objects.js';
export { OBJECT_TYPES, objectType, wordOf } from './object-kinds.js';
export { readObjectPage } from './object-page.js';
export type { ObjectPage } from './object-page.js';
