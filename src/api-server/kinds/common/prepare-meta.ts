import type { UnstructuredObject } from '../../../base/kubernetes/index.js';

/** What a creation may not bring along in `metadata`. */
export function clearSystemFields({ metadata }: UnstructuredObject): void {
  delete metadata.generation;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
}

/**
 * What an update keeps when the caller leaves it out, and what only the server counts. Source: the beginning of
 * ValidateObjectMetaAccessorUpdate in apimachinery, and rest.BeforeUpdate in apiserver.
 */
export function carryOverSystemFields(
  { metadata }: UnstructuredObject,
  { metadata: old }: Readonly<UnstructuredObject>,
): void {
  if (old.uid !== undefined) metadata.uid ??= old.uid;
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp ??= old.creationTimestamp;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp ??= old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  }
  if (old.generation === undefined) delete metadata.generation;
  else metadata.generation = old.generation;
}
