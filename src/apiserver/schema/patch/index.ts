export { applyPatch } from './apply-patch.js';
export { patchMediaTypes, patchTypeOf } from './patch-type.js';
export type { PatchType } from './patch-type.js';
