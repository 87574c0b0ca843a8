import type { ControllerDefinition, ReplicaSet, PartialKind } from '@rollkeeper/runtime';
import { Pod, indexBy, own, workOf, partOf, ReplicationController } from '@rollkeeper/runtime';
import type {
  PlannedPods,
  ReplicaSetControllerOptions,
  SeenReplicaSet,
  ReplicatedKind,
} from '../replicaset/index.js';
import {
  ReplicaSetReconciler,
  TEMPLATE_HASH_INDEX,
  compileReplicaSetControllerOptions,
  hasReplicaFailure,
  isRelevantPodChange,
  isReplicaSetDue,
  podUrgency,
  replicaSetUrgency,
  templateHashIndex,
} from '../replicaset/index.js';
import { ORPHAN_INDEX, clusterController, nodeLabels, orphanIndex, watchFreedRoom } from '../shared/index.js';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';

/** ReplicationControllers in the form of ReplicaSets: only their selectors are written differently. */
const AS_REPLICA_SETS: PartialKind<ReplicaSet> = partOf(
  ReplicationController,
  'as-replica-sets',
  toReplicaSet,
);

const REPLICATION_CONTROLLER_KIND: ReplicatedKind = {
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

/**
 * Maintains the pods of ReplicationControllers by the engine of ReplicaSets, as if they were an older version of these. Its queue
 * is in the leader's memory: where there are none, it costs one watch. Source: k/k pkg/controller/replication.
 * @throws InvalidOptionError
 */
export function createReplicationControllerController(
  options: ReplicaSetControllerOptions = {},
): ControllerDefinition {
  const compiled = compileReplicaSetControllerOptions(options);
  return clusterController<ReplicaSet, SeenReplicaSet, PlannedPods>(
    {
      name: 'replicationcontroller',
      for: AS_REPLICA_SETS,
      workers: 10,
      ...{ eventSource: 'replication-controller', serviceAccount: 'replication-controller' },
    },
    ({ clock, informers, logger, random }) => {
      const controllers = informers.partialInformerFor<ReplicaSet>(AS_REPLICA_SETS);
      const pods = informers.informerFor<Pod>(Pod);
      const reconciler = new ReplicaSetReconciler({
        replicaSets: controllers.lister,
        pods: pods.lister,
        podAbsencesSeen: (namespace) => pods.absencesSeen?.({ namespace }),
        replicated: REPLICATION_CONTROLLER_KIND,
        nodes: compiled.zones ? nodeLabels(informers) : undefined,
        ...{ clock, random, logger, options: compiled },
      });
      return {
        ...workOf(reconciler),
        urgency: replicaSetUrgency,
        owns: [
          own<Pod, ReplicaSet>(Pod, {
            adoptable: true,
            predicates: [isRelevantPodChange],
            urgency: podUrgency(pods.lister, compiled.waits),
          }),
        ],
        watches: [
          { ...watchFreedRoom(AS_REPLICA_SETS, hasReplicaFailure), optional: true, mustBeSeen: false },
        ],
        indexes: [
          indexBy(Pod, ORPHAN_INDEX, orphanIndex),
          indexBy(Pod, TEMPLATE_HASH_INDEX, templateHashIndex),
        ],
        needsSync: (key) => reconciler.needsSync(key),
        isDue: isReplicaSetDue,
      };
    },
  );
}

/** With its defaults: the entry of the registry. */
export const replicationControllerController: ControllerDefinition = createReplicationControllerController();
