import type { ControllerDefinition, DueWork } from '@rollkeeper/runtime';
import { defineController, workOf } from '@rollkeeper/runtime';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Pod, parseKey } from '@rollkeeper/machinery/kubernetes';
import { AbsentOwners } from './absent-owners.js';
import { DependencyGraph } from './dependency-graph.js';
import { DependentsElsewhere } from './dependents-elsewhere.js';
import type { PlannedItem, SeenItem } from './garbage-collector-reconciler.js';
import { GarbageCollectorReconciler } from './garbage-collector-reconciler.js';
import type { GarbageCollectorOptions } from './garbage-collector.options.js';
import { compileGarbageCollectorOptions } from './garbage-collector.options.js';
import {
  parseItemRef,
  isBeingDeleted,
  isDeletingDependents,
  isOrphaningDependents,
  itemRef,
  namespaceOfItem,
} from './item-key.js';
import { ResourceMonitors } from './resource-monitors.js';
import { rememberDeletions, watchGarbage } from './watch-garbage.js';
import type { GraphNode } from './ownership-index.js';

/**
 * Deletes objects without owners, and implements foreground deletion and orphaning, for every type of the server. Its keys name
 * objects of many types (see {@link itemRef}); `for` is the most frequent one. Runs on the leader: the metadata of all objects
 * would be too much for every replica. With slots it runs on every replica, on what is in its slots.
 * @throws InvalidOptionError naming the option
 */
export function createGarbageCollectorController(
  options: GarbageCollectorOptions = {},
): ControllerDefinition {
  const compiled = compileGarbageCollectorOptions(options);
  return defineController<KubernetesObject, SeenItem, PlannedItem>(
    {
      name: 'garbage-collector',
      aliases: ['garbage-collector-controller', 'garbagecollector'],
      for: Pod,
      workers: 20,
      needsWholeCluster: true,
      // The name of kube-controller-manager's.
      serviceAccount: 'generic-garbage-collector',
      worksOn: 'leader',
      perNamespace: true,
      namespaceOf: namespaceOfItem,
    },
    ({ clock, discovery, events, informers, logger }) => {
      const graph = new DependencyGraph();
      const absent = new AbsentOwners(compiled.absentOwnerCapacity);
      if (compiled.trustDeletions) rememberDeletions(graph, absent);
      const monitors = new ResourceMonitors({ informers, discovery, graph, clock, logger }, compiled);
      const elsewhere = new DependentsElsewhere(monitors);
      const sources = { graph, absent, monitors, events, elsewhere };
      return {
        ...workOf(new GarbageCollectorReconciler(sources, compiled)),
        leading: monitors,
        whileLeading: (enqueue) => watchGarbage(sources, compiled, enqueue),
        informerOf: (resource) => monitors.informerOf(resource),
        unreadable: () => monitors.unreadable(),
        figures: () => ({ ...monitors.counts, objects: graph.size }),
        due: () => findDue({ graph, absent }),
        objectOf: (key) => {
          const item = parseItemRef(parseKey(key), graph.types);
          return item && graph.get(item.type, item.ref);
        },
      };
    },
  );
}

/** The collector with the default options. */
export const garbageCollectorController: ControllerDefinition = createGarbageCollectorController();

interface DueView {
  readonly graph: Pick<DependencyGraph, 'dependentsOf' | 'nodes' | 'ownerOf'>;
  readonly absent: Pick<AbsentOwners, 'has'>;
}

/**
 * Objects with an owner that is known to be deleted, and owners that no object holds any more. If the cache alone is not enough
 * (an owner that was never seen), nothing is due: the sync asks the server.
 */
function* findDue(view: DueView): Generator<DueWork> {
  for (const node of view.graph.nodes()) {
    if (!isDue(node, view)) continue;
    const { metadata } = node.object;
    yield { ref: itemRef(node.type, metadata), resourceVersion: metadata.resourceVersion };
  }
}

function isDue({ object }: GraphNode, { absent, graph }: DueView): boolean {
  const { namespace, ownerReferences = [], uid } = object.metadata;
  if (isOrphaningDependents(object)) return true;
  if (isDeletingDependents(object)) return graph.dependentsOf(uid).length === 0;
  if (isBeingDeleted(object)) return false;
  return ownerReferences.some(
    (reference) => !graph.ownerOf(reference, namespace) && absent.has(reference, namespace),
  );
}
