import type { BuiltController, ControllerDefinition, ControllerDependencies } from '@rollkeeper/runtime';
import { PODS, parseKey } from '@rollkeeper/machinery/kubernetes';
import { AbsentOwners } from './absent-owners.js';
import { DependencyGraph } from './dependency-graph.js';
import { findDue } from './find-due.js';
import { GarbageCollectorReconciler } from './garbage-collector-reconciler.js';
import type {
  CompiledGarbageCollectorOptions,
  GarbageCollectorOptions,
} from './garbage-collector.options.js';
import { compileGarbageCollectorOptions } from './garbage-collector.options.js';
import { parseItemRef } from './item-key.js';
import { ResourceMonitors } from './resource-monitors.js';
import { rememberDeletions, watchGarbage } from './watch-garbage.js';

/**
 * Deletes what nobody owns any more, and carries out foreground deletion and orphaning, for every type that the server has.
 * Its keys name objects of many types (see {@link itemRef}); `type` names the most frequent one. Works where the replica
 * leads: the metadata of everything there is would be too much to be kept on each.
 * @throws InvalidOptionError naming the option
 */
export function createGarbageCollectorController(
  options: GarbageCollectorOptions = {},
): ControllerDefinition {
  const compiled = compileGarbageCollectorOptions(options);
  return {
    name: 'garbage-collector',
    aliases: ['garbage-collector-controller', 'garbagecollector'],
    type: PODS,
    defaultWorkers: 20,
    needsWholeCluster: true,
    // As kube-controller-manager's is called.
    serviceAccount: 'generic-garbage-collector',
    worksOn: 'leader',
    build: (dependencies) => build(dependencies, compiled),
  };
}

/** The collector with the default options. */
export const garbageCollectorController: ControllerDefinition = createGarbageCollectorController();

function build(
  { clock, discovery, events, informers, logger }: ControllerDependencies,
  options: CompiledGarbageCollectorOptions,
): BuiltController {
  const graph = new DependencyGraph();
  const absent = new AbsentOwners(options.absentOwnerCapacity);
  if (options.trustDeletions) rememberDeletions(graph, absent);
  const monitors = new ResourceMonitors({ informers, discovery, graph, clock, logger }, options);
  const sources = { graph, absent, monitors, events };
  return {
    reconciler: new GarbageCollectorReconciler(sources, options, logger),
    leading: monitors,
    watch: (enqueue) => watchGarbage(graph, absent, options, enqueue),
    informerOf: (resource) => monitors.informerOf(resource),
    unreadable: () => monitors.unreadable(),
    figures: () => ({ ...monitors.counts, objects: graph.size }),
    due: () => findDue({ graph, absent }),
    objectOf: (key) => {
      const item = parseItemRef(parseKey(key), graph.types);
      return item && graph.get(item.type, item.ref);
    },
  };
}
