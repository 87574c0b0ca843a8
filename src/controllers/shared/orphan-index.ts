import type { IndexFunction } from '../../kit/index.js';
import type { KubernetesObject } from '../../base/kubernetes/index.js';
import { controllerOf } from '../../base/kubernetes/index.js';

/** Name of the index that finds, by namespace, the objects that no controller owns: candidates of adoption. */
export const ORPHAN_INDEX = 'orphans-by-namespace';

/** Indexes an object by its namespace while it has no controller; else not at all. */
export const orphanIndex: IndexFunction<KubernetesObject> = (object) =>
  controllerOf(object) ? [] : [object.metadata.namespace ?? ''];
