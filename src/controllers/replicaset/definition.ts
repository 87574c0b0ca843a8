import type { BuiltController, ControllerDefinition, ControllerDependencies } from '@rollkeeper/runtime';
import { dueObjects } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  Pod,
  ReplicaSet,
  ResourceQuota,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import {
  DEPLOYMENTS,
  PODS,
  REPLICA_SETS,
  RESOURCE_QUOTAS,
  controllerOf,
} from '@rollkeeper/machinery/kubernetes';
import {
  ORPHAN_INDEX,
  SELECTOR_INDEX,
  TEMPLATE_INDEX,
  orphanIndex,
  selectorIndex,
  templateIndex,
  watchFreedQuotas,
  watchSelectorOverlaps,
} from '../shared/index.js';
import { isReplicaSetDue, watchReplicaSets } from './watch-replicasets.js';
import { limitToSelected } from './limit-to-selected.js';
import { TEMPLATE_HASH_INDEX, templateHashIndex } from './related-pods.js';
import { ReplicaSetReconciler } from './reconcile.js';
import { REPLICA_FAILURE } from './status.js';
import type { ReplicaSetControllerOptions } from './replicaset.options.js';
import { compileReplicaSetControllerOptions } from './replicaset.options.js';

/**
 * The ReplicaSet controller, with options of one's own.
 * @param deploymentTypes whose objects a selection of workloads is about
 * @throws InvalidOptionError
 */
export function createReplicaSetController(
  options: ReplicaSetControllerOptions = {},
  deploymentTypes: readonly ResourceType[] = [DEPLOYMENTS],
): ControllerDefinition {
  const compiled = compileReplicaSetControllerOptions(options);
  return {
    name: 'replicaset',
    aliases: ['replicaset-controller'],
    type: REPLICA_SETS,
    defaultWorkers: 10,
    build: (dependencies) => build(dependencies, compiled, deploymentTypes),
  };
}

/** The ReplicaSet controller with its defaults: the entry of the registry. */
export const replicaSetController: ControllerDefinition = createReplicaSetController();

function build(
  { informers, events, clock, random, logger, selects }: ControllerDependencies,
  options: ReturnType<typeof compileReplicaSetControllerOptions>,
  deploymentTypes: readonly ResourceType[],
): BuiltController {
  const replicaSets = informers.informerFor<ReplicaSet>(REPLICA_SETS);
  const pods = informers.informerFor<Pod>(PODS);
  // Sooner than the backoff; where it may not be read, the backoff remains.
  const quotas = informers.informerFor<ResourceQuota>(RESOURCE_QUOTAS, { optional: true });
  pods.addIndex(ORPHAN_INDEX, orphanIndex);
  pods.addIndex(TEMPLATE_HASH_INDEX, templateHashIndex);
  replicaSets.addIndex(SELECTOR_INDEX, selectorIndex);
  replicaSets.addIndex(TEMPLATE_INDEX, (replicaSet) =>
    hasPods(replicaSet) ? templateIndex(replicaSet) : [],
  );
  const reconciler = new ReplicaSetReconciler({
    replicaSets: replicaSets.lister,
    pods: pods.lister,
    podAbsencesSeen: (namespace) => pods.absencesSeen?.({ namespace }),
    events,
    clock,
    random,
    logger,
    options,
  });
  const built: BuiltController = {
    reconciler,
    watch: (enqueue) => {
      const removals = [
        watchReplicaSets({ replicaSets, pods, enqueue, waits: options.waits }),
        watchFreedQuotas({ quotas, objects: replicaSets, waitsForRoom: hasReplicaFailure, enqueue }),
        watchSelectorOverlaps({ informer: replicaSets, events, concerns: isForReplicaSets }),
      ];
      return () => removals.forEach((remove) => remove());
    },
    needsSync: (key) => reconciler.needsSync(key),
    due: () => dueObjects<ReplicaSet>(replicaSets.lister, isReplicaSetDue),
  };
  if (!selects) return built;
  const deployments = deploymentTypes.map((deploymentType) => ({
    type: deploymentType,
    informer: informers.informerFor<Deployment>(deploymentType),
  }));
  return limitToSelected(built, { selects, deployments, replicaSets });
}

/** What only waits for a rollback takes nobody's pods. */
function hasPods({ spec }: DeepReadonly<ReplicaSet>): boolean {
  return (spec.replicas ?? 1) > 0;
}

/** What stood in the way first may have been something else: its message is that of the first failure. */
function hasReplicaFailure({ status }: DeepReadonly<ReplicaSet>): boolean {
  return status?.conditions?.some((each) => each.type === REPLICA_FAILURE && each.status === 'True') ?? false;
}

/** Of those that Deployments control, the Deployments are told. */
function isForReplicaSets(one: DeepReadonly<ReplicaSet>, other: DeepReadonly<ReplicaSet>): boolean {
  return hasPods(other) && !(controllerOf(one) && controllerOf(other));
}
