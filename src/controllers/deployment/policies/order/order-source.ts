import type { Kind, Lister, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { ReplicaSet, findOwner, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import type { FailedTemplate } from '../common/failed-templates.js';
import { FAILED, GOOD_SINCE, annotationOf } from '../common/names.js';
import { ORDER_SEEN, predecessorsOf } from './settings.js';

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

/** The other Deployments of the same API, as the caches show them. */
export interface OrderSource {
  find(namespace: string, name: string): OrderedRollout | undefined;
  inRelease(namespace: string, release: string): readonly OrderedRollout[];
}

export interface OrderSurroundings {
  /** @default nothing is known of other Deployments: the status counts */
  readonly order?: OrderSource;
}

/** Name of the index that finds the Deployments that wait for one, and those of a release. */
export const ORDER_INDEX = 'rollout-order';

export function orderIndex({ metadata }: DeepReadonly<Deployment>): readonly string[] {
  const { annotations, namespace = '' } = metadata;
  const release = releaseOf(annotations);
  return [
    ...predecessorsOf(annotations).map(({ name }) => followersKey(namespace, name)),
    ...(release === undefined ? [] : [releaseKey(namespace, release)]),
  ];
}

/** The value under which the index has the Deployments of a release. */
export function releaseKey(namespace: string, release: string): string {
  return `release/${namespace}/${release}`;
}

function followersKey(namespace: string, name: string): string {
  return `after/${namespace}/${name}`;
}

/** The release that the annotations name. */
export function releaseOf(annotations: Annotations | undefined): string | undefined {
  const text = annotations?.[annotationOf('release')]?.trim();
  return text === '' ? undefined : text;
}

/** A rollout that goes on, ends or fails brings the Deployments back that wait for it, and those of its release. */
export function watchOrder(kind: Kind<Deployment>): readonly WatchedKind[] {
  const concerned = (deployment: DeepReadonly<Deployment>, deployments: Lister<Deployment>) => {
    const { annotations, name, namespace = '' } = deployment.metadata;
    const release = releaseOf(annotations);
    const keys = [
      followersKey(namespace, name),
      ...(release === undefined ? [] : [releaseKey(namespace, release)]),
    ];
    return keys
      .flatMap((key) => deployments.byIndex(ORDER_INDEX, key))
      .map(({ metadata }) => metadata)
      .filter((metadata) => metadata.name !== name);
  };
  return [
    {
      ...watch<Deployment>(kind, (deployment, listerOf) => concerned(deployment, listerOf(kind)), hasMoved),
      urgency: { onlyIfNeeded: true },
    },
    {
      ...watch<ReplicaSet>(
        ReplicaSet,
        (replicaSet, listerOf) => {
          const owner = findOwner(replicaSet, kind, listerOf(kind));
          return owner ? concerned(owner, listerOf(kind)) : [];
        },
        hasBecomeGood,
      ),
      urgency: { onlyIfNeeded: true },
    },
  ];
}

function hasMoved(event: ResourceEvent<Deployment>): boolean {
  return event.type !== 'modified' || !semanticEqual(partOf(event.old), partOf(event.object));
}

function partOf({ metadata, spec, status = {} }: DeepReadonly<Deployment>): unknown {
  const { annotations = {}, generation } = metadata;
  const { conditions = [], observedGeneration, replicas, updatedReplicas } = status;
  return {
    told: [annotationOf('after'), annotationOf('release'), FAILED, ORDER_SEEN].map(
      (name) => annotations[name],
    ),
    conditions: conditions.filter(({ type }) => type !== 'Available'),
    ...{ generation, observedGeneration, replicas, updatedReplicas, isPaused: spec.paused === true },
  };
}

function hasBecomeGood(event: ResourceEvent<ReplicaSet>): boolean {
  const goodOf = ({ metadata }: DeepReadonly<ReplicaSet>): string | undefined =>
    metadata.annotations?.[GOOD_SINCE];
  return event.type === 'modified' && goodOf(event.old) !== goodOf(event.object);
}
