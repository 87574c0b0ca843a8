export { applyPatch, readPatch } from './apply-patch.js';
export type { PatchOptions } from './apply-patch.js';
export { patchMediaTypes, patchTypeOf } from './patch-type.js';
export type { PatchType } from './patch-type.js';
