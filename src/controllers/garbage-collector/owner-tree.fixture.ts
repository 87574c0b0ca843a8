import type {
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
  ResourceType,
} from '../../machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet, apiVersionOf } from '../../machinery/kubernetes/index.js';
import type { FakeCluster } from '../../testing/fake-cluster.js';

/** Adds an object with these owners to the cluster; in the namespace `default` if it is namespaced. */
export function putOwned(
  cluster: FakeCluster,
  type: ResourceType,
  name: string,
  owners: KubernetesObject[] = [],
  more: Partial<ObjectMeta> = {},
): KubernetesObject {
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name, ...more } };
  const namespace = type.namespaced ? (more.namespace ?? 'default') : undefined;
  return cluster.seed<KubernetesObject>(type, {
    ...object,
    metadata: { ...object.metadata, namespace, ownerReferences: owners.map((owner) => refTo(owner)) },
  });
}

export function refTo(owner: KubernetesObject): OwnerReference {
  const { name, uid = '' } = owner.metadata;
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** A Deployment of one ReplicaSet of `pods` Pods. */
export function putTree(
  cluster: FakeCluster,
  pods = 3,
  name = 'web',
): { deployment: KubernetesObject; replicaSet: KubernetesObject } {
  const deployment = putOwned(cluster, Deployment, name);
  const replicaSet = putOwned(cluster, ReplicaSet, `${name}-1`, [deployment]);
  for (let index = 0; index < pods; index++) putOwned(cluster, Pod, `${name}-1-${index}`, [replicaSet]);
  return { deployment, replicaSet };
}

export function deleteDeployment(
  cluster: FakeCluster,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  name = 'web',
): Promise<unknown> {
  return cluster.delete(Deployment, { namespace: 'default', name }, { propagationPolicy });
}

type AfterCluster<F extends (cluster: FakeCluster, ...rest: never[]) => unknown> =
  Parameters<F> extends [FakeCluster, ...infer Rest] ? Rest : never;

/** The arguments of {@link putOwned} after the cluster. */
export type OwnedObject = AfterCluster<typeof putOwned>;
/** The arguments of {@link putTree} after the cluster. */
export type Tree = AfterCluster<typeof putTree>;
