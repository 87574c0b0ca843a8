import type { UnstructuredObject } from '../../base/kubernetes/index.js';

/** Whether nothing keeps a deleted object any longer. */
export function isReadyToGo(object: Readonly<UnstructuredObject>): boolean {
  const { metadata } = object;
  if (!metadata.deletionTimestamp || (metadata.finalizers ?? []).length > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const spec = object.spec as { finalizers?: string[] } | undefined;
  return object.kind !== 'Namespace' || (spec?.finalizers ?? []).length === 0;
}
