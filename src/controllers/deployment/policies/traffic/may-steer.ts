import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from '../common/names.js';

const TRAFFIC = annotationOf('traffic');

/** Whether annotations may ask for a rollout by weights, so that it is worth asking the policy. */
export function maySteer(own: Annotations | undefined, namespace: Annotations | undefined): boolean {
  return own?.[TRAFFIC] !== undefined || namespace?.[TRAFFIC] !== undefined;
}
