import type {
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
} from '../../controller/index.js';
import { PODS, parseKey } from '../../kubernetes/index.js';
import { AbsentOwners } from './absent-owners.js';
import { DependencyGraph } from './dependency-graph.js';
import { findDue } from './find-due.js';
import { GarbageCollectorReconciler } from './garbage-collector-reconciler.js';
import type { GarbageCollectorOptions } from './garbage-collector.options.js';
import { compileGarbageCollectorOptions } from './garbage-collector.options.js';
import { parseItemRef } from './item-key.js';
import { OwnerTypes } from './owner-types.js';
import { rememberDeletions, watchGarbage } from './watch-garbage.js';

/**
 * Deletes what nobody owns any more, and carries out foreground deletion and orphaning. Its keys name objects of many
 * types (see {@link itemRef}); `type` names the most frequent one.
 * @throws InvalidOptionError naming the option
 */
export function createGarbageCollectorController(
  options: GarbageCollectorOptions = {},
): ControllerDefinition {
  const compiled = compileGarbageCollectorOptions(options);
  return {
    name: 'garbage-collector',
    type: PODS,
    defaultWorkers: 20,
    build({ informers, events, clock, logger }: ControllerDependencies): BuiltController {
      const graph = new DependencyGraph(informers, compiled.types);
      const absent = new AbsentOwners(compiled.absentOwnerCapacity);
      if (compiled.trustDeletions) rememberDeletions(graph, absent);
      const sources = { graph, absent, types: new OwnerTypes(clock), events };
      return {
        reconciler: new GarbageCollectorReconciler(sources, compiled, logger),
        watch: (enqueue) => watchGarbage(graph, absent, compiled, enqueue),
        due: () => findDue({ graph, absent }),
        objectOf: (key) => {
          const item = parseItemRef(parseKey(key), graph.types);
          return item && graph.get(item.type, item.ref);
        },
      };
    },
  };
}

/** The collector for the types of a Deployment controller. */
export const garbageCollectorController: ControllerDefinition = createGarbageCollectorController();
