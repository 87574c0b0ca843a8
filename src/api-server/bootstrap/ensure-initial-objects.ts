import type { ResourceType, UnstructuredObject } from '../../base/kubernetes/index.js';
import { apiVersionOf, NAMESPACES, qualifiedResource } from '../../base/kubernetes/index.js';
import { StatusError } from '../errors/index.js';
import { createObject, ensureDefaultServiceAccount } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';

const INITIAL = ['default', 'kube-system', 'kube-node-lease'];

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' };

const CLASSES: readonly UnstructuredObject[] = [
  priorityClass(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
  priorityClass(
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
];

/** Makes the namespaces and priority classes that clients take for granted. */
export async function ensureInitialObjects(context: RegistryContext): Promise<void> {
  for (const name of INITIAL) {
    await ensure(context, NAMESPACES, {
      apiVersion: apiVersionOf(NAMESPACES),
      kind: NAMESPACES.kind,
      metadata: { name },
    });
    await ensureDefaultServiceAccount(context, name);
  }
  for (const object of CLASSES)
    await ensure(context, PRIORITY_CLASSES, { ...object, metadata: { ...object.metadata } });
}

async function ensure(
  context: RegistryContext,
  { group, resource, version }: Pick<ResourceType, 'group' | 'version' | 'resource'>,
  object: UnstructuredObject,
): Promise<void> {
  const kind = context.kinds.find(group, version, resource);
  if (!kind) return;
  const key = { resource: qualifiedResource(kind.type), namespace: '', name: object.metadata.name };
  if (await context.storage.get(key)) return;
  await createObject(context, { kind, namespace: '' }, object, { dryRun: false }).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
  });
}

function priorityClass(name: string, value: number, description: string): UnstructuredObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
  };
}
