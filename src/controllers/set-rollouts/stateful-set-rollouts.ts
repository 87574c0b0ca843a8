import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition } from '@rollkeeper/runtime';
import { StatefulSet } from '@rollkeeper/runtime';
import { isCount } from '../shared/index.js';
import type { StrategyChange } from './apply-set.js';
import { decidePartition } from './decide-partition.js';
import type { DecidedSet } from './decide-set.js';
import type { SetKind, SetMove } from './set-kind.js';
import type { SetRolloutsOptions } from './set-rollouts.js';
import { createSetRollouts } from './set-rollouts.js';
import type { SetObject, SetView } from './set-view.js';
import type { ReadableStatefulSet } from './stateful-set-view.js';
import {
  hasKnownRevision,
  isStatefulSetObserved,
  partitionOf,
  placedPods,
  viewStatefulSet,
} from './stateful-set-view.js';

/** A set of this kind is a StatefulSet. */
const asStatefulSet = (set: DeepReadonly<SetObject>): ReadableStatefulSet => set;

const STATEFUL_SETS: SetKind = {
  kind: StatefulSet,
  heldBy: ['spec', 'updateStrategy', 'rollingUpdate', 'partition'],
  isObserved: (parts) => isStatefulSetObserved(parts),
  isRevisionKnown: (parts) => hasKnownRevision(parts),
  view: (parts, nowMs) => viewStatefulSet(parts, nowMs),
  strategyProblem: (set) =>
    isOnDelete(asStatefulSet(set)) ? 'needs spec.updateStrategy.type RollingUpdate' : undefined,
  usual: '0',
  original: (set) => stringifyJson(partitionOf(asStatefulSet(set))),
  move: (set, view, decided) => movePartition(asStatefulSet(set), view, decided),
  giveBack: (set, value) => {
    const partition = isCount(value) ? value : 0;
    const isMoved = !isOnDelete(asStatefulSet(set)) && partition !== partitionOf(asStatefulSet(set));
    return isMoved ? change(asStatefulSet(set), partition) : undefined;
  },
};

/**
 * Rolls StatefulSets out by the policies that their annotations ask for, beside the set's own controller, which creates and
 * deletes the pods: the policies move `spec.updateStrategy.rollingUpdate.partition`. A StatefulSet without such an annotation is
 * left alone.
 */
export function createStatefulSetRollouts(options: SetRolloutsOptions = {}): ControllerDefinition {
  return createSetRollouts('statefulset-rollout', STATEFUL_SETS, options);
}

function movePartition(set: ReadableStatefulSet, view: SetView, decided: DecidedSet): SetMove {
  const { failed, good, most, runs } = decided;
  const { current, replicas, update } = view;
  const partition = partitionOf(set);
  const pods = placedPods(set, view);
  const moved = decidePartition({ partition, pods, runs, most, failed, good, current, replicas, update });
  const replace = view.pods.filter(({ pod }) => pod.metadata.name === moved.replace).map(({ pod }) => pod);
  const summary = [
    ...(moved.partition === partition ? [] : [`partition: ${partition} -> ${moved.partition}`]),
    ...replace.map(({ metadata }) => `pod ${metadata.name} is replaced`),
  ].join('; ');
  return {
    ...(moved.partition !== partition && { strategy: change(set, moved.partition) }),
    replace,
    summary,
  };
}

function change(set: ReadableStatefulSet, partition: number): StrategyChange {
  return { fields: { rollingUpdate: { partition } }, isFirst: partition > partitionOf(set) };
}

function isOnDelete({ spec }: ReadableStatefulSet): boolean {
  return spec.updateStrategy?.type === 'OnDelete';
}
