import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from './names.js';

/** The two Services of a Deployment whose requests are steered. */
export interface TrafficServices {
  /** The backend with the version that serves. */
  readonly stable: string;
  /** The backend with the version that comes. */
  readonly canary: string;
}

/** The names that a Deployment gives. */
export interface GivenServices {
  /** @default NAME-stable */
  readonly stableService?: string;
  /** @default NAME-canary */
  readonly canaryService?: string;
}

/** @param deployment its name, from which the Services have theirs if no others are given */
export function trafficServicesOf(
  { canaryService, stableService }: GivenServices,
  deployment: string,
): TrafficServices {
  return { stable: stableService ?? `${deployment}-stable`, canary: canaryService ?? `${deployment}-canary` };
}

const TRAFFIC = annotationOf('traffic');

/** Whether annotations may ask for a rollout by weights, so that it is worth asking the policy. */
export function maySteer(own: Annotations | undefined, namespace: Annotations | undefined): boolean {
  return own?.[TRAFFIC] !== undefined || namespace?.[TRAFFIC] !== undefined;
}
