import { unsupportedMediaType } from '../errors/index.js';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const BY_MEDIA_TYPE: ReadonlyMap<string, PatchType> = new Map(
  Object.entries({
    'application/json-patch+json': 'json',
    'application/merge-patch+json': 'merge',
    'application/strategic-merge-patch+json': 'strategic',
    'application/apply-patch+yaml': 'apply',
  } satisfies Record<string, PatchType>),
);

export const PATCH_MEDIA_TYPES = [...BY_MEDIA_TYPE.keys()];

/** @throws StatusError 415 */
export function patchTypeOf(contentType: string, hasStrategicMerge: boolean = true): PatchType {
  const type = BY_MEDIA_TYPE.get(contentType);
  if (type && (hasStrategicMerge || type !== 'strategic')) return type;
  const accepted = PATCH_MEDIA_TYPES.filter(
    (known) => hasStrategicMerge || BY_MEDIA_TYPE.get(known) !== 'strategic',
  );
  throw unsupportedMediaType(contentType || 'no Content-Type', accepted);
}
