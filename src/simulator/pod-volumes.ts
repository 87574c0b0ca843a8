import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Lister } from '@rollkeeper/client/informer';
import type {
  DeepReadonly,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '@rollkeeper/machinery/kubernetes';
import {
  PERSISTENT_VOLUMES,
  PERSISTENT_VOLUME_CLAIMS,
  SELECTED_NODE,
  givingPatch,
  keyOf,
} from '@rollkeeper/machinery/kubernetes';
import type { ClaimPlan, StorageView } from './decide-volumes.js';

export interface StorageListers {
  readonly claims: Pick<Lister<PersistentVolumeClaim>, 'get'>;
  readonly volumes: Pick<Lister<PersistentVolume>, 'get' | 'list'>;
  readonly classes: Pick<Lister<StorageClass>, 'get'>;
}

export function storageViewOf({ claims, classes, volumes }: StorageListers): StorageView {
  return {
    claim: (namespace, name) => claims.get(keyOf({ namespace, name })),
    volume: (name) => volumes.get(name),
    volumes: () => volumes.list(),
    storageClass: (name) => classes.get(name),
  };
}

/**
 * Triggers the binding of claims that waited for a node. The volume controllers do the rest. Source: `bindAPIUpdate` in
 * k/k pkg/scheduler/framework/plugins/volumebinding.
 */
export async function startBinding(
  client: ApiClient,
  plans: readonly ClaimPlan[],
  node: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { claim, volume } of plans) {
    const body = volume && givingPatch(volume, claim);
    const { name = '' } = volume?.metadata ?? {};
    if (body) await client.patch(PERSISTENT_VOLUMES, { name }, { type: 'merge', body }, { signal });
    if (!volume) await selectNode(client, claim, node, signal);
  }
}

async function selectNode(
  client: ApiClient,
  { metadata }: DeepReadonly<PersistentVolumeClaim>,
  node: string,
  signal: AbortSignal,
): Promise<void> {
  if (metadata.annotations?.[SELECTED_NODE] === node) return;
  const { name, namespace, resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE]: node } } };
  await client.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { type: 'merge', body }, { signal });
}
