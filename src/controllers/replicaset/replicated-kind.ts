import type { Kind } from '@rollkeeper/runtime';
import { ReplicaSet, typeMeta } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/**
 * The form that the ReplicaSets of this controller have in the API. Its caches hold objects of the form of a ReplicaSet
 * in any case: another kind is converted as it is cached, and back as it is written.
 */
export interface ReplicatedKind {
  readonly kind: Kind;
  /** The written form of an object of the cache. */
  readonly toApi: (replicaSet: ReplicaSet) => KubernetesObject;
  /** Whether its status has `terminatingReplicas`. */
  readonly countsTerminating: boolean;
}

export const REPLICA_SET_KIND: ReplicatedKind = {
  kind: ReplicaSet,
  toApi: (replicaSet) => replicaSet,
  countsTerminating: true,
};

/** Cached objects lack the fields that a list implies. */
export function asOwner(
  { kind }: Pick<ReplicatedKind, 'kind'>,
  replicaSet: DeepReadonly<ReplicaSet>,
): DeepReadonly<ReplicaSet> {
  return { ...replicaSet, ...typeMeta(kind) };
}
