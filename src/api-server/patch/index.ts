export { applyPatch } from './apply-patch.js';
export { mergePatch } from './merge-patch.js';
export type { PatchOptions } from './apply-patch.js';
export { patchMediaTypes, patchTypeOf } from './patch-type.js';
export type { PatchType } from './patch-type.js';
