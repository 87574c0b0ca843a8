import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { DaemonSet } from '@rollkeeper/runtime';
import { REVISION_LABEL, scaledValue } from '../shared/index.js';
import { templateOf } from '../revisions/decide-revisions.js';
import { fitOf, targetNodeOf } from '../daemonset/daemon-pod.js';
import type { SharedPod } from './decide-share.js';
import type { PlaceNode } from './set-nodes.js';
import type { ReadablePod, ReadableRevision, SetView } from './set-view.js';
import { seenPod } from './set-view.js';

export type ReadableDaemonSet = DeepReadonly<DaemonSet>;

/** The objects of a DaemonSet. */
export interface DaemonSetParts {
  readonly set: ReadableDaemonSet;
  readonly revisions: readonly ReadableRevision[];
  readonly pods: readonly ReadablePod[];
  /** @default not known: all pods count, and as many as its controller has counted are wanted */
  readonly nodes?: readonly DeepReadonly<PlaceNode>[];
}

/** Whether the set's controller has observed it, and made the revision of its template. */
export function isDaemonSetObserved(parts: Pick<DaemonSetParts, 'revisions' | 'set'>): boolean {
  const { metadata, status } = parts.set;
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && hasRevision(parts);
}

/** Whether there is a revision of its template. */
export function hasRevision({ revisions, set }: Pick<DaemonSetParts, 'revisions' | 'set'>): boolean {
  return updateOf(set, revisions) !== undefined;
}

/**
 * The rollout of a DaemonSet: its size is the number of nodes that should have a pod. Its own controller lets pods stay on nodes that
 * should not have one, or are lost, and never replaces them: they have no part in it.
 */
export function viewDaemonSet({ nodes, pods, revisions, set }: DaemonSetParts, nowMs: number): SetView {
  const update = updateOf(set, revisions)?.metadata.name ?? '';
  const names = new Map(
    revisions.map(({ metadata }) => [metadata.labels?.[REVISION_LABEL] ?? '', metadata.name]),
  );
  const places =
    nodes && new Set(nodes.filter((node) => fitOf(set, node).shouldRun).map(({ metadata }) => metadata.name));
  // Its controller may not have seen a node yet, and creates no pod before.
  const replicas = Math.min(set.status?.desiredNumberScheduled ?? 0, places?.size ?? Infinity);
  const placed = places ? pods.filter((pod) => places.has(targetNodeOf(pod) ?? '')) : pods;
  const seen = placed.map((pod) => {
    const revision = names.get(pod.metadata.labels?.[REVISION_LABEL] ?? '') ?? '';
    return seenPod(pod, revision, set.spec.minReadySeconds ?? 0, nowMs);
  });
  const old = seen.filter((pod) => pod.revision !== update && !pod.isTerminating);
  return {
    ...{ kind: 'DaemonSet', set, replicas, update, revisions, pods: seen },
    // A set of this kind has no other revision to create pods from.
    current: '',
    given: Math.max(0, replicas - old.length),
  };
}

/** The newest revision with the template that is asked for. */
function updateOf(
  { spec }: ReadableDaemonSet,
  revisions: readonly ReadableRevision[],
): ReadableRevision | undefined {
  return revisions
    .filter((revision) => semanticEqual(templateOf(revision), spec.template))
    .reduce<ReadableRevision | undefined>(
      (newest, each) => (newest && BigInt(newest.revision) >= BigInt(each.revision) ? newest : each),
      undefined,
    );
}

/** The pods, as far as the order of a rollout goes. */
export function sharedPods({ pods }: SetView): readonly SharedPod[] {
  return pods.map(({ isAvailable, isTerminating: ends, pod, revision }) => ({
    name: pod.metadata.name,
    node: targetNodeOf(pod) ?? '',
    ...{ revision, isAvailable, isTerminating: ends },
  }));
}

/** How many nodes may be without an available pod at once; one at least. */
export function maxUnavailableNodes({ spec }: ReadableDaemonSet, nodes: number): number {
  const { maxUnavailable = 1 } = spec.updateStrategy?.rollingUpdate ?? {};
  return Math.max(1, scaledValue(maxUnavailable, nodes, Math.ceil, 'maxUnavailable'));
}
