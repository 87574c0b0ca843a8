import type { IndexFunction } from '../../informer/informer.js';
import type { KubernetesObject } from '../../kubernetes/index.js';
import { controllerOf } from '../../kubernetes/index.js';

/** Name of the index that finds, by namespace, the objects that no controller owns: candidates of adoption. */
export const ORPHAN_INDEX = 'orphans-by-namespace';

/** Indexes an object by its namespace while it has no controller; else not at all. */
export const orphanIndex: IndexFunction<KubernetesObject> = (object) =>
  controllerOf(object) ? [] : [object.metadata.namespace ?? ''];
