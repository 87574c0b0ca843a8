import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { PODS, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type {
  ControllerDefinition,
  ControllerDependencies,
  ControllerSpec,
  ContentTrim,
} from '@rollkeeper/runtime';
import { defineController, trimPodKeepingSpec } from '@rollkeeper/runtime';

/** Of pods, what they ask for and how they are reached: what most who look at Services, budgets and nodes need. */
export const WHOLE_PODS: ReadonlyMap<string, ContentTrim> = new Map([
  [qualifiedResource(PODS), trimPodKeepingSpec as unknown as ContentTrim],
]);

export interface ClusterControllerTraits {
  /** Its names in kube-controller-manager beside `NAME-controller`. @default none */
  readonly aliases?: readonly string[];
  /** See `ControllerDefinition.eventSource`. @default NAME-controller */
  readonly eventSource?: string;
  /** See `ControllerDefinition.trims`. @default none */
  readonly trims?: ReadonlyMap<string, ContentTrim>;
}

/**
 * A small controller of those that make a cluster alive. Each has little to do, and waits most of the time, so its keys wait in
 * the leader's memory. A real cluster has its own, so that it runs by default where there is none.
 * @throws InvalidOptionError naming the option
 */
export function clusterController<T extends KubernetesObject>(
  spec: ControllerSpec<T>,
  { aliases = [], eventSource, trims }: ClusterControllerTraits = {},
): ControllerDefinition {
  return {
    ...defineController(spec),
    aliases: [`${spec.name}-controller`, ...aliases],
    needsWholeCluster: true,
    queue: 'local',
    byDefault: 'standalone',
    ...(eventSource !== undefined && { eventSource }),
    ...(trims && { trims }),
  };
}

/**
 * One whose watches and decisions rest on more than its caches: on what it is built from, or on what it remembers.
 * @param specOf called once for each life of the controller
 */
export function clusterControllerFrom<T extends KubernetesObject>(
  named: Pick<ControllerSpec<T>, 'name' | 'for'> & ClusterControllerTraits,
  specOf: (dependencies: ControllerDependencies) => Omit<ControllerSpec<T>, 'name' | 'for'>,
): ControllerDefinition {
  const { for: kind, name } = named;
  return {
    ...clusterController<T>({ name, for: kind, reconcile: () => Promise.resolve() }, named),
    build: (dependencies) =>
      defineController<T>({ name, for: kind, ...specOf(dependencies) }).build(dependencies),
  };
}
