import type { Kind, Lister, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { ReplicaSet, findOwner, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { FAILED, GOOD_SINCE, annotationOf } from '../policies/common/names.js';
import { releaseOf } from '../policies/order/order-source.js';
import { ORDER_SEEN, predecessorsOf } from '../policies/order/settings.js';

const AFTER = annotationOf('after');
const RELEASE = annotationOf('release');

/** Name of the index that finds the Deployments that wait for one, and those of a release. */
export const ORDER_INDEX = 'rollout-order';

/** The values of {@link ORDER_INDEX}. A Deployment with neither annotation has none. */
export function orderIndex({ metadata }: DeepReadonly<Deployment>): readonly string[] {
  const { annotations, namespace = '' } = metadata;
  const after = annotations?.[AFTER] === undefined ? [] : predecessorsOf(annotations);
  return [...after.map(({ name }) => followersKey(namespace, name)), ...releaseKeysOf(metadata)];
}

/** The value under which the index has the Deployments of a release. */
export function releaseKey(namespace: string, release: string): string {
  return `release/${namespace}/${release}`;
}

function followersKey(namespace: string, name: string): string {
  return `after/${namespace}/${name}`;
}

function releaseKeysOf({
  annotations,
  namespace = '',
}: DeepReadonly<Deployment>['metadata']): readonly string[] {
  const release = annotations?.[RELEASE] === undefined ? undefined : releaseOf(annotations);
  return release === undefined ? [] : [releaseKey(namespace, release)];
}

/** A rollout that goes on, ends or fails brings the Deployments back that wait for it, and those of its release. */
export function watchOrder(kind: Kind<Deployment>): readonly WatchedKind[] {
  const concerned = (deployment: DeepReadonly<Deployment>, deployments: Lister<Deployment>) => {
    const { name, namespace = '' } = deployment.metadata;
    const keys = [followersKey(namespace, name), ...releaseKeysOf(deployment.metadata)];
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
    told: [AFTER, RELEASE, FAILED, ORDER_SEEN].map((name) => annotations[name]),
    conditions: conditions.filter(({ type }) => type !== 'Available'),
    ...{ generation, observedGeneration, replicas, updatedReplicas, isPaused: spec.paused === true },
  };
}

function hasBecomeGood(event: ResourceEvent<ReplicaSet>): boolean {
  const goodOf = ({ metadata }: DeepReadonly<ReplicaSet>): string | undefined =>
    metadata.annotations?.[GOOD_SINCE];
  return event.type === 'modified' && goodOf(event.old) !== goodOf(event.object);
}
