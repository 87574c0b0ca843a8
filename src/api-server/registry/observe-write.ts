import type { KubernetesObject } from '../../base/kubernetes/index.js';
import type { KindDefinition } from '../kinds/index.js';
import type { Revision } from '../storage/index.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

/** Tells those who go by certain objects of a write of this process at once: the watch tells them later. */
export async function observeWrite(
  context: RegistryContext,
  kind: KindDefinition,
  object: KubernetesObject,
): Promise<void> {
  context.admission.observe(kind, object);
  if (isDefinition(kind)) await context.definitions?.written(object);
}

/** The same of an object that is gone. */
export function observeRemoval(
  context: RegistryContext,
  { kind, name, namespace }: ObjectTarget,
  revision: Revision,
): void {
  context.admission.forget(kind, { namespace, name }, revision);
  if (isDefinition(kind)) context.definitions?.removed(name, revision);
}

function isDefinition({ type }: KindDefinition): boolean {
  return type.kind === 'CustomResourceDefinition' && type.group === 'apiextensions.k8s.io';
}
