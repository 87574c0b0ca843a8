import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Pod, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type {
  ContentTrim,
  ControllerBehaviour,
  ControllerDefinition,
  ControllerDependencies,
  ControllerTraits,
} from '@rollkeeper/runtime';
import { defineController, trimPodKeepingSpec } from '@rollkeeper/runtime';

/** Pods with their requests and ports, for controllers of Services, budgets and nodes. */
export const WHOLE_PODS: ReadonlyMap<string, ContentTrim> = new Map([
  [qualifiedResource(Pod), (pod) => trimPodKeepingSpec(pod as Pod)],
]);

type Traits<T extends KubernetesObject> = Omit<
  ControllerTraits<T>,
  'byDefault' | 'needsWholeCluster' | 'queue'
>;

type Behaviour<T extends KubernetesObject, Seen, Plan> = ControllerBehaviour<T, Seen, Plan>;

/**
 * A small controller of a cluster's basic functions. Each has little to do and is mostly idle, so its keys wait in the
 * leader's memory. A real cluster has its own, so it runs by default only without one.
 * @throws InvalidOptionError naming the option
 */
export function clusterController<T extends KubernetesObject, Seen = unknown, Plan = unknown>(
  spec: Traits<T> & Behaviour<T, Seen, Plan>,
): ControllerDefinition;
export function clusterController<T extends KubernetesObject, Seen = unknown, Plan = unknown>(
  traits: Traits<T>,
  behaviourOf: (dependencies: ControllerDependencies) => Behaviour<T, Seen, Plan>,
): ControllerDefinition;
export function clusterController<T extends KubernetesObject>(
  traits: Traits<T>,
  behaviourOf?: (dependencies: ControllerDependencies) => ControllerBehaviour<T>,
): ControllerDefinition {
  const { aliases = [], name } = traits;
  const placed: ControllerTraits<T> = {
    ...traits,
    aliases: [`${name}-controller`, ...aliases],
    needsWholeCluster: true,
    queue: 'local',
    byDefault: 'standalone',
  };
  return behaviourOf
    ? defineController(placed, behaviourOf)
    : defineController(placed as ControllerTraits<T> & Behaviour<T, unknown, unknown>);
}
