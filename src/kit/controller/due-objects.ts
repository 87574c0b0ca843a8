import type { Lister } from '../informer/informer.js';
import type { DeepReadonly, KubernetesObject } from '../../base/kubernetes/index.js';
import type { DueWork } from './controller-definition.js';

/** The cached objects of which `isDue` says that a sync is due, where their own keys are the controller's. */
export function* dueObjects<T extends KubernetesObject>(
  lister: Pick<Lister<T>, 'list'>,
  isDue: (object: DeepReadonly<T>) => boolean,
): Generator<DueWork> {
  for (const object of lister.list()) {
    const { name, namespace, resourceVersion } = object.metadata;
    if (isDue(object)) yield { ref: { name, namespace }, resourceVersion };
  }
}
