import type { ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import { partOf, ReplicationController } from '@rollkeeper/runtime';
import type { PartialKind } from '@rollkeeper/runtime';
import type { ReplicatedKind } from '../replicaset/index.js';

/** ReplicationControllers in the form of ReplicaSets: only their selectors are written differently. */
export const AS_REPLICA_SETS: PartialKind<ReplicaSet> = partOf(
  ReplicationController,
  'as-replica-sets',
  toReplicaSet,
);

export const REPLICATION_CONTROLLER_KIND: ReplicatedKind = {
  kind: ReplicationController,
  toApi: toReplicationController,
  countsTerminating: false,
};

/** Without a selector nothing is selected, as by an empty one. */
function toReplicaSet({ metadata, spec, status }: ReplicationController): ReplicaSet {
  const { selector = {}, ...rest } = spec ?? {};
  const { managedFields: _, ...kept } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: kept,
    spec: { ...rest, selector: { matchLabels: selector } },
    ...(status && { status: status }),
  };
}

function toReplicationController({ spec, ...replicaSet }: ReplicaSet): ReplicationController {
  const own = { ...replicaSet, spec: { ...spec, selector: spec.selector.matchLabels } };
  return objectOfKind<ReplicationController>(own);
}
