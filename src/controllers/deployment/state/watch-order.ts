import type { Kind, Lister, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { ReplicaSet, findOwner, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { readFailures } from '../policies/common/failed-templates.js';
import { FAILED, GOOD_SINCE, annotationOf } from '../policies/common/names.js';
import { releaseOf } from '../policies/order/order-source.js';
import { ORDER_SEEN, predecessorsOf } from '../policies/order/settings.js';
import { hasEnded } from './has-ended.js';

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

/**
 * A rollout that goes on, ends or fails brings the Deployments back that wait for it. One that ends or fails brings back those of its
 * release: each change of each of n would be a look at n others, so that they hear of less than those that wait.
 */
export function watchOrder(kind: Kind<Deployment>): readonly WatchedKind[] {
  const urgency = { onlyIfNeeded: true };
  return [
    { ...watch<Deployment>(kind, (each, listerOf) => followersOf(each, listerOf(kind)), hasMoved), urgency },
    {
      ...watch<Deployment>(kind, (each, listerOf) => releasedWith(each, listerOf(kind)), hasMovedInRelease),
      urgency,
    },
    {
      ...watch<ReplicaSet>(
        ReplicaSet,
        (replicaSet, listerOf) => {
          const owner = findOwner(replicaSet, kind, listerOf(kind));
          const deployments = listerOf(kind);
          return owner ? [...followersOf(owner, deployments), ...releasedWith(owner, deployments)] : [];
        },
        hasBecomeGood,
      ),
      urgency,
    },
  ];
}

function followersOf({ metadata }: DeepReadonly<Deployment>, deployments: Lister<Deployment>) {
  return othersUnder([followersKey(metadata.namespace ?? '', metadata.name)], metadata.name, deployments);
}

function releasedWith({ metadata }: DeepReadonly<Deployment>, deployments: Lister<Deployment>) {
  return othersUnder(releaseKeysOf(metadata), metadata.name, deployments);
}

function othersUnder(keys: readonly string[], name: string, deployments: Lister<Deployment>) {
  return keys
    .flatMap((key) => deployments.byIndex(ORDER_INDEX, key))
    .map(({ metadata }) => metadata)
    .filter((metadata) => metadata.name !== name);
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

function hasMovedInRelease(event: ResourceEvent<Deployment>): boolean {
  if (event.type !== 'modified') return event.object.metadata.annotations?.[RELEASE] !== undefined;
  const { object, old } = event;
  if ([old, object].every(({ metadata }) => metadata.annotations?.[RELEASE] === undefined)) return false;
  return !semanticEqual(partForRelease(old), partForRelease(object));
}

/** The facts by which the others go back, or know that all have ended: no number of pods, and no failure that followed one of theirs. */
function partForRelease(deployment: DeepReadonly<Deployment>): unknown {
  const { metadata, spec, status = {} } = deployment;
  const { annotations = {}, generation } = metadata;
  return {
    release: annotations[RELEASE],
    failures: readFailures(annotations).filter(({ byOther }) => byOther === undefined),
    reasons: (status.conditions ?? [])
      .filter(({ type }) => type !== 'Available')
      .map(({ reason, status: is, type }) => ({ type, is, reason })),
    ...{ generation, hasEnded: hasEnded(deployment), isPaused: spec.paused === true },
  };
}

function hasBecomeGood(event: ResourceEvent<ReplicaSet>): boolean {
  const goodOf = ({ metadata }: DeepReadonly<ReplicaSet>): string | undefined =>
    metadata.annotations?.[GOOD_SINCE];
  return event.type === 'modified' && goodOf(event.old) !== goodOf(event.object);
}
