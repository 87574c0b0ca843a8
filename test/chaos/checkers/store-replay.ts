import type {
  Deployment,
  KubernetesObject,
  Pod,
  ReplicaSet,
} from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';

/** The store at every revision, with the ways from owner to owned. */
export class StoreReplay {
  readonly deployments = new Map<string, Deployment>();
  readonly replicaSets = new Map<string, ReplicaSet>();
  readonly pods = new Map<string, Pod>();
  private readonly owned = new Map<string, Set<string>>();

  apply({ deleted, kind, object }: HistoryEvent): void {
    const { uid = '' } = object.metadata;
    if (kind !== 'Deployment' && kind !== 'ReplicaSet' && kind !== 'Pod') return;
    const objects = { Deployment: this.deployments, ReplicaSet: this.replicaSets, Pod: this.pods }[
      kind
    ] as Map<string, KubernetesObject>;
    const before = ownerOf(objects.get(uid));
    if (before !== undefined) this.owned.get(before)?.delete(uid);
    if (deleted) {
      objects.delete(uid);
      if (this.owned.get(uid)?.size === 0) this.owned.delete(uid);
      return;
    }
    objects.set(uid, object);
    const owner = ownerOf(object);
    if (owner === undefined) return;
    const siblings = this.owned.get(owner) ?? new Set();
    this.owned.set(owner, siblings.add(uid));
  }

  replicaSetsOf(deploymentUid: string): ReplicaSet[] {
    return [...(this.owned.get(deploymentUid) ?? [])].flatMap((uid) => this.replicaSets.get(uid) ?? []);
  }

  podsOf(replicaSetUid: string): Pod[] {
    return [...(this.owned.get(replicaSetUid) ?? [])].flatMap((uid) => this.pods.get(uid) ?? []);
  }

  /** The Deployment that a change concerns. */
  deploymentOf({ kind, object }: HistoryEvent): Deployment | undefined {
    if (kind === 'Deployment') return this.deployments.get(object.metadata.uid ?? '');
    const owner = ownerOf(object) ?? '';
    if (kind === 'ReplicaSet') return this.deployments.get(owner);
    return this.deployments.get(ownerOf(this.replicaSets.get(owner)) ?? '');
  }
}

/** Whether a ReplicaSet has just the pods that it wants, and its controller knows: nothing decided earlier is to come. */
export function isAtRest({ metadata, spec, status }: ReplicaSet, living: number): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    living === wanted && status?.replicas === wanted && status.observedGeneration === metadata.generation
  );
}

export function ownerOf(object: KubernetesObject | undefined): string | undefined {
  return object?.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
}

/** Neither ended nor ending. */
export function isLiving({ metadata, status }: Pod): boolean {
  return !metadata.deletionTimestamp && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
}

export function isReadyPod(pod: Pod): boolean {
  return (
    isLiving(pod) &&
    (pod.status?.conditions ?? []).some(({ status, type }) => type === 'Ready' && status === 'True')
  );
}
