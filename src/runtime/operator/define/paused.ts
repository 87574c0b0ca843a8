import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Predicate } from './predicates.js';

/** On an object: controllers that are `pausable` leave it alone while it is `true`. */
export const PAUSED_ANNOTATION = 'rollkeeper.dev/paused';

/** Whether an object asks to be left alone, by {@link PAUSED_ANNOTATION}. */
export function isPaused(object: DeepReadonly<KubernetesObject> | undefined): boolean {
  return object?.metadata.annotations?.[PAUSED_ANNOTATION] === 'true';
}

/** A pause has begun or ended. */
export const pauseChanged: Predicate = (event) =>
  event.type === 'modified' && isPaused(event.object) !== isPaused(event.old);
