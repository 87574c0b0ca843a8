import type { PersistentVolume as IPersistentVolume } from '@rollkeeper/machinery/types/core-v1';
import type { ResourceSlice as IResourceSlice } from '@rollkeeper/machinery/types/resource-v1';
import type { VolumeAttachment as IVolumeAttachment } from '@rollkeeper/machinery/types/storage-v1';
import type { DecodedObject, KubernetesObject, Pod } from '@rollkeeper/machinery/kubernetes';
import type { NodeRelations } from './decide-node-access.js';
import { referencesOf } from '../../kinds/index.js';

type PersistentVolume = DecodedObject<IPersistentVolume>;

/** The resources that lead from objects to nodes, qualified. */
export const RELATING_RESOURCES = [
  'pods',
  'persistentvolumes',
  'volumeattachments.storage.k8s.io',
  'resourceslices.resource.k8s.io',
] as const;

interface ObjectName {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The objects that are needed on each node: those that the pods there name, the volumes of their claims, and what these
 * name. Stores which objects need an object, not the object.
 */
export class NodeGraph implements NodeRelations {
  /** From what is needed to what needs it, and the node where that is; empty: where it is needed itself. */
  private readonly needs = new Map<string, Map<string, string>>();
  /** The links that an object has made, to be forgotten with it. */
  private readonly made = new Map<string, readonly Link[]>();

  /** Takes over a new state; `undefined`: the object was deleted. */
  put(key: ObjectName, object: KubernetesObject | undefined): void {
    const id = idOf(key);
    for (const { from, via } of this.made.get(id) ?? []) this.unlink(from, via);
    const links = object ? linksOf(key, object) : [];
    if (links.length === 0) this.made.delete(id);
    else this.made.set(id, links);
    for (const link of links) this.link(link);
  }

  isNeeded(node: string, object: ObjectName): boolean {
    return this.leadsTo(idOf(object), node, 0);
  }

  private leadsTo(id: string, node: string, depth: number): boolean {
    // Secret, volume, claim, pod: there is nothing longer.
    if (depth > MAX_DEPTH) return false;
    for (const [via, where] of this.needs.get(id) ?? [])
      if (where === '' ? this.leadsTo(via, node, depth + 1) : where === node) return true;
    return false;
  }

  private link({ from, via, node }: Link): void {
    const all = this.needs.get(from) ?? new Map<string, string>();
    this.needs.set(from, all);
    all.set(via, node);
  }

  private unlink(from: string, via: string): void {
    const all = this.needs.get(from);
    all?.delete(via);
    if (all?.size === 0) this.needs.delete(from);
  }
}

const MAX_DEPTH = 3;

interface Link {
  readonly from: string;
  /** The object that needs it. */
  readonly via: string;
  /** The node of that object; empty if the object is needed itself. */
  readonly node: string;
}

function linksOf(key: ObjectName, object: KubernetesObject): readonly Link[] {
  const { name, namespace, resource } = key;
  switch (resource) {
    case 'pods': {
      const pod: DecodedObject<Pod> = object;
      const node = pod.spec?.nodeName;
      if (!node) return [];
      const references = referencesOf(pod).map((reference) => idOf({ ...reference, namespace }));
      return [idOf(key), ...references].map((from) => ({ from, via: idOf(key), node }));
    }
    case 'persistentvolumes':
      return linksOfVolume(name, object);
    default: {
      const { spec }: DecodedObject<IVolumeAttachment | IResourceSlice> = object;
      const node = spec?.nodeName;
      return node ? [{ from: idOf(key), via: idOf(key), node }] : [];
    }
  }
}

/** A volume is needed where its claim is, and the secrets that it names where the volume is. */
function linksOfVolume(name: string, { spec = {} }: PersistentVolume): readonly Link[] {
  const { claimRef } = spec;
  if (!claimRef?.name || !claimRef.namespace) return [];
  const claim = { resource: 'persistentvolumeclaims', namespace: claimRef.namespace, name: claimRef.name };
  const { azureFile, cephfs, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = spec;
  const secrets = [
    azureFile?.secretName
      ? { name: azureFile.secretName, namespace: azureFile.secretNamespace || claimRef.namespace }
      : undefined,
    ...[cephfs, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef),
    csi?.nodeStageSecretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeExpandSecretRef,
  ].flatMap((secret) =>
    secret?.name
      ? [idOf({ resource: 'secrets', namespace: secret.namespace || claimRef.namespace!, name: secret.name })]
      : [],
  );
  const volume = idOf({ resource: 'persistentvolumes', namespace: '', name });
  return [
    { from: volume, via: idOf(claim), node: '' },
    ...secrets.map((from) => ({ from, via: volume, node: '' })),
  ];
}

function idOf({ name, namespace, resource }: ObjectName): string {
  return `${resource}/${namespace}/${name}`;
}
