import { unsupportedMediaType } from '../errors/index.js';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const BY_MEDIA_TYPE: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

export const PATCH_MEDIA_TYPES = Object.keys(BY_MEDIA_TYPE);

/** @throws StatusError 415 */
export function patchTypeOf(contentType: string): PatchType {
  const type = BY_MEDIA_TYPE[contentType];
  if (type) return type;
  throw unsupportedMediaType(contentType || 'no Content-Type', PATCH_MEDIA_TYPES);
}
