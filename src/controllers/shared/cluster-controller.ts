import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { PODS, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type {
  BehaviourOf,
  ContentTrim,
  ControllerBehaviour,
  ControllerDefinition,
  ControllerTraits,
} from '@rollkeeper/runtime';
import { defineController, trimPodKeepingSpec } from '@rollkeeper/runtime';

/** Of pods, what they ask for and how they are reached: what most who look at Services, budgets and nodes need. */
export const WHOLE_PODS: ReadonlyMap<string, ContentTrim> = new Map([
  [qualifiedResource(PODS), trimPodKeepingSpec as unknown as ContentTrim],
]);

type Traits<T extends KubernetesObject> = Omit<
  ControllerTraits<T>,
  'byDefault' | 'needsWholeCluster' | 'queue'
>;

type Behaviour<T extends KubernetesObject, Seen, Plan> = ControllerBehaviour<T, Seen, Plan>;

/**
 * A small controller of those that make a cluster alive. Each has little to do, and waits most of the time, so its keys wait in
 * the leader's memory. A real cluster has its own, so that it runs by default where there is none.
 * @throws InvalidOptionError naming the option
 */
export function clusterController<T extends KubernetesObject, Seen = unknown, Plan = unknown>(
  spec: Traits<T> & Behaviour<T, Seen, Plan>,
): ControllerDefinition;
export function clusterController<T extends KubernetesObject, Seen = unknown, Plan = unknown>(
  traits: Traits<T>,
  behaviourOf: BehaviourOf<T, Seen, Plan>,
): ControllerDefinition;
export function clusterController<T extends KubernetesObject>(
  traits: Traits<T>,
  behaviourOf?: BehaviourOf<T>,
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
