import type { Annotations } from '../../kubernetes/annotations.js';
import type { FailedTemplate } from '../common/failed-templates.js';
import { annotationOf } from '../common/names.js';
import { isReleaseName } from '../failure/settings.js';

/** Another Deployment of the namespace, as far as the order and the release of rollouts need to know it. */
export interface OrderedRollout {
  readonly name: string;
  readonly annotations: Annotations;
  /**
   * `rolling`: its rollout is not over, or has not begun. `baking`: it is complete, and its bake time or its checks are not over.
   * `failed`: its rollout failed, also if it has gone back since. `ended`: it is over, and well.
   */
  readonly state: 'rolling' | 'baking' | 'failed' | 'ended';
  /** More about the state, for people; empty if there is no more to say. */
  readonly words: string;
  /** Whether it waits for its own predecessors. */
  readonly isOrdered: boolean;
  /** Since when it is complete, epoch milliseconds. @default not known, or it is not */
  readonly completeSinceMs?: number;
  /** When time alone may change the state, epoch milliseconds. @default never */
  readonly changesAtMs?: number;
  /** The failure that it has, or has gone back from, and that nothing has replaced since. @default none */
  readonly failure?: FailedTemplate;
  /** Whether its revision counts as good. */
  readonly isGood: boolean;
}

/** A Deployment, and the failure that it has, or has gone back from. */
export interface FailedRollout {
  readonly name: string;
  readonly failure: FailedTemplate;
}

/** The other Deployments of the same API, as the caches show them. */
export interface OrderSource {
  find(namespace: string, name: string): OrderedRollout | undefined;
  /** The Deployments of a release. Each is looked at when it is asked for. */
  inRelease(namespace: string, release: string): Iterable<OrderedRollout>;
  /** The members that have failed. Nothing else about them is read. */
  failedIn(namespace: string, release: string): Iterable<FailedRollout>;
}

export interface OrderSurroundings {
  /** @default nothing is known of other Deployments: the status counts */
  readonly order?: OrderSource;
}

const RELEASE = annotationOf('release');

/** The release that the annotations name; none if it is not the name of one. */
export function releaseOf(annotations: Annotations | undefined): string | undefined {
  const text = annotations?.[RELEASE]?.trim() ?? '';
  return isReleaseName(text) ? text : undefined;
}
