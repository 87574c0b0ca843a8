import type { ControllerDefinition, ControllerTraits, ResourceType } from '@rollkeeper/runtime';
import { Pod, ReplicaSet, defineController, indexBy, own, workOf } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Deployment, controllerOf } from '@rollkeeper/machinery/kubernetes';
import {
  ORPHAN_INDEX,
  nodeLabels,
  TEMPLATE_INDEX,
  orphanIndex,
  templateIndex,
  watchFreedRoom,
  watchSelectorOverlaps,
} from '../shared/index.js';
import { isRelevantPodChange, isReplicaSetDue, podUrgency, replicaSetUrgency } from './watch-replicasets.js';
import { limitToSelected } from './limit-to-selected.js';
import { TEMPLATE_HASH_INDEX, templateHashIndex } from './related-pods.js';
import type { PlannedPods, SeenReplicaSet } from './reconcile.js';
import { ReplicaSetReconciler } from './reconcile.js';
import { hasReplicaFailure } from './status.js';
import type { ReplicaSetControllerOptions } from './replicaset.options.js';
import { compileReplicaSetControllerOptions } from './replicaset.options.js';

const TRAITS: ControllerTraits<ReplicaSet> = {
  ...{ name: 'replicaset', aliases: ['replicaset-controller'] },
  ...{ for: ReplicaSet, workers: 10, perNamespace: true },
};

/**
 * The ReplicaSet controller, with custom options.
 * @param deploymentTypes the types that a workload selection applies to
 * @throws InvalidOptionError
 */
export function createReplicaSetController(
  options: ReplicaSetControllerOptions = {},
  deploymentTypes: readonly ResourceType[] = [Deployment],
): ControllerDefinition {
  const compiled = compileReplicaSetControllerOptions(options);
  const { waits } = compiled;
  return defineController<ReplicaSet, SeenReplicaSet, PlannedPods>(
    TRAITS,
    ({ clock, events, informers, logger, random, selects }) => {
      const replicaSets = informers.informerFor<ReplicaSet>(ReplicaSet);
      const pods = informers.informerFor<Pod>(Pod);
      const reconciler = new ReplicaSetReconciler({
        replicaSets: replicaSets.lister,
        pods: pods.lister,
        podAbsencesSeen: (namespace) => pods.absencesSeen?.({ namespace }),
        ...{ clock, random, logger, options: compiled },
        nodes: compiled.zones ? nodeLabels(informers) : undefined,
      });
      const deployments = (selects ? deploymentTypes : []).map((type) => ({
        type,
        informer: informers.informerFor<Deployment>(type),
      }));
      const selection = selects && limitToSelected({ selects, deployments, replicaSets: replicaSets.lister });
      return {
        ...workOf(reconciler),
        urgency: (event) => replicaSetUrgency(event) ?? selection?.urgency(event),
        owns: [
          own<Pod, ReplicaSet>(Pod, {
            adoptable: true,
            predicates: [isRelevantPodChange],
            urgency: podUrgency(pods.lister, waits),
          }),
        ],
        watches: [
          // Sooner than the backoff; where quotas may not be read, the backoff remains.
          { ...watchFreedRoom(ReplicaSet, hasReplicaFailure), optional: true, mustBeSeen: false },
        ],
        indexes: [
          indexBy(Pod, ORPHAN_INDEX, orphanIndex),
          indexBy(Pod, TEMPLATE_HASH_INDEX, templateHashIndex),
          indexBy(ReplicaSet, TEMPLATE_INDEX, templatesWithPods),
        ],
        whileLeading: (enqueue) => {
          const stops = [
            watchSelectorOverlaps({ informer: replicaSets, events, concerns: isForReplicaSets }),
            selection?.watch(enqueue),
          ];
          return () => stops.forEach((stop) => stop?.());
        },
        needsSync: (key) => reconciler.needsSync(key),
        isDue: isReplicaSetDue,
        ...(selection && { limit: selection }),
      };
    },
  );
}

/** The ReplicaSet controller with its defaults: the entry of the registry. */
export const replicaSetController: ControllerDefinition = createReplicaSetController();

function templatesWithPods(replicaSet: DeepReadonly<ReplicaSet>): readonly string[] {
  return hasPods(replicaSet) ? templateIndex(replicaSet) : [];
}

/** ReplicaSets scaled to zero cannot overlap. */
function hasPods({ spec }: DeepReadonly<ReplicaSet>): boolean {
  return (spec.replicas ?? 1) > 0;
}

/** Overlaps of Deployments' ReplicaSets are reported on the Deployments. */
function isForReplicaSets(one: DeepReadonly<ReplicaSet>, other: DeepReadonly<ReplicaSet>): boolean {
  return hasPods(other) && !(controllerOf(one) && controllerOf(other));
}
