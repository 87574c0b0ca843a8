import { unknownPatchType, unsupportedMediaType } from '../errors/index.js';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const BY_MEDIA_TYPE: ReadonlyMap<string, PatchType> = new Map(
  Object.entries({
    'application/json-patch+json': 'json',
    'application/merge-patch+json': 'merge',
    'application/strategic-merge-patch+json': 'strategic',
    'application/apply-patch+yaml': 'apply',
  } satisfies Record<string, PatchType>),
);

const PATCH_MEDIA_TYPES = [...BY_MEDIA_TYPE.keys()];

/** The facts of a kind that a patch needs. */
interface Patchable {
  /** Strategic merges go by types that say how to merge their lists. @default true */
  readonly hasStrategicMerge?: boolean;
}

/** The media types of the patches that are taken. */
export function patchMediaTypes({ hasStrategicMerge = true }: Patchable = {}): string[] {
  return PATCH_MEDIA_TYPES.filter((known) => hasStrategicMerge || BY_MEDIA_TYPE.get(known) !== 'strategic');
}

/** @throws StatusError 415 */
export function patchTypeOf(contentType: string, patchable: Patchable = {}): PatchType {
  const accepted = patchMediaTypes(patchable);
  const type = BY_MEDIA_TYPE.get(contentType);
  if (type && accepted.includes(contentType)) return type;
  throw type ? unsupportedMediaType(accepted) : unknownPatchType();
}
