import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { StatefulSet } from '@rollkeeper/runtime';
import { REVISION_LABEL } from '../shared/index.js';
import { templateOf } from '../revisions/decide-revisions.js';
import { ordinalOfName } from '../statefulset/identity.js';
import type { PlacedPod } from './decide-partition.js';
import type { ReadablePod, ReadableRevision, SetView } from './set-view.js';
import { seenPod } from './set-view.js';

export type ReadableStatefulSet = DeepReadonly<StatefulSet>;

/** The objects of a StatefulSet. */
export interface StatefulSetParts {
  readonly set: ReadableStatefulSet;
  readonly revisions: readonly ReadableRevision[];
  readonly pods: readonly ReadablePod[];
}

/** Whether the set's controller has observed it, and its revision is known: before that nothing can be decided. */
export function isStatefulSetObserved({
  revisions,
  set,
}: Pick<StatefulSetParts, 'revisions' | 'set'>): boolean {
  const { observedGeneration = 0, updateRevision } = set.status ?? {};
  const isKnown = revisions.some((revision) => revision.metadata.name === updateRevision);
  return isKnown && observedGeneration >= (set.metadata.generation ?? 0);
}

/** Whether the update that its controller has observed is still of the template that it asks for. */
export function hasKnownRevision({ revisions, set }: Pick<StatefulSetParts, 'revisions' | 'set'>): boolean {
  const update = revisions.find(({ metadata }) => metadata.name === set.status?.updateRevision);
  return update !== undefined && semanticEqual(templateOf(update), set.spec.template);
}

/** The rollout of a StatefulSet. */
export function viewStatefulSet({ pods, revisions, set }: StatefulSetParts, nowMs: number): SetView {
  const { spec, status } = set;
  const { currentRevision: current = '', updateRevision: update = '' } = status ?? {};
  const names = new Set(revisions.map((revision) => revision.metadata.name));
  const replicas = spec.replicas ?? 1;
  return {
    kind: 'StatefulSet',
    set,
    replicas,
    update,
    // The revision before may have been pruned by hand.
    current: names.has(current) ? current : update,
    given: Math.min(replicas, Math.max(0, replicas - partitionOf(set))),
    revisions,
    pods: pods.map((pod) =>
      seenPod(pod, pod.metadata.labels?.[REVISION_LABEL] ?? '', spec.minReadySeconds ?? 0, nowMs),
    ),
  };
}

/** `spec.updateStrategy.rollingUpdate.partition` with the API's default. */
export function partitionOf({ spec }: ReadableStatefulSet): number {
  return spec.updateStrategy?.rollingUpdate?.partition ?? 0;
}

/** The pods in their places; those without an ordinal have none. */
export function placedPods({ spec }: ReadableStatefulSet, { pods }: SetView): readonly PlacedPod[] {
  const first = spec.ordinals?.start ?? 0;
  return pods.flatMap(({ isAvailable, isTerminating: ends, pod, revision }) => {
    const { name } = pod.metadata;
    const ordinal = ordinalOfName(name);
    return ordinal === undefined
      ? []
      : [{ name, index: ordinal - first, revision, isAvailable, isTerminating: ends }];
  });
}
