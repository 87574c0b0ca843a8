import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import type { KindDefinition } from '../kinds/index.js';
import type { RegistryContext } from './registry-context.js';

/** After a write is through: what the server itself keeps about the object follows it. */
export async function settleWrite(
  context: RegistryContext,
  kind: KindDefinition,
  object: Readonly<UnstructuredObject>,
): Promise<void> {
  await context.admission.settle(kind, object);
  if (isDefinition(kind)) await context.definitions?.settle(object);
}

function isDefinition({ type }: KindDefinition): boolean {
  return type.kind === 'CustomResourceDefinition' && type.group === 'apiextensions.k8s.io';
}
