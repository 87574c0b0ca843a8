import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition } from '@rollkeeper/runtime';
import { DaemonSet } from '@rollkeeper/runtime';
import type { ReadableDaemonSet } from './daemon-set-view.js';
import {
  hasRevision,
  isDaemonSetObserved,
  maxUnavailableNodes,
  sharedPods,
  viewDaemonSet,
} from './daemon-set-view.js';
import { decideShare } from './decide-share.js';
import type { DecidedSet } from './decide-set.js';
import type { SetKind, SetMove } from './set-kind.js';
import type { SetRolloutsOptions } from './set-rollouts.js';
import { createSetRollouts } from './set-rollouts.js';
import type { SetObject, SetView } from './set-view.js';

/** A set of this kind is a DaemonSet. */
const asDaemonSet = (set: DeepReadonly<SetObject>): ReadableDaemonSet => set;

const TYPES: readonly unknown[] = ['RollingUpdate', 'OnDelete'];

const DAEMON_SETS: SetKind = {
  kind: DaemonSet,
  isPerNode: true,
  heldBy: ['spec', 'updateStrategy', 'type'],
  isObserved: (parts) => isDaemonSetObserved(parts),
  isRevisionKnown: (parts) => hasRevision(parts),
  view: (parts, nowMs) => viewDaemonSet(parts, nowMs),
  usual: '"RollingUpdate"',
  original: (set) => stringifyJson(typeOf(asDaemonSet(set))),
  move: (set, view, decided) => replaceShare(asDaemonSet(set), view, decided),
  giveBack: (set, value) => {
    const type = TYPES.includes(value) ? String(value) : 'RollingUpdate';
    return type === typeOf(asDaemonSet(set)) ? undefined : { fields: { type }, isFirst: false };
  },
};

/**
 * Rolls DaemonSets out by the policies that their annotations ask for, beside the set's own controller, which creates the pods: with the
 * strategy `OnDelete` that replaces none, and the pods of a share of the nodes are deleted here. A DaemonSet without such an annotation is
 * left alone.
 */
export function createDaemonSetRollouts(options: SetRolloutsOptions = {}): ControllerDefinition {
  return createSetRollouts('daemonset-rollout', DAEMON_SETS, options);
}

/** No pod goes before the set's own controller leaves them alone. */
function replaceShare(set: ReadableDaemonSet, view: SetView, { most, runs }: DecidedSet): SetMove {
  if (typeOf(set) !== 'OnDelete')
    return {
      strategy: { fields: { type: 'OnDelete' }, isFirst: true },
      replace: [],
      summary: 'updateStrategy: OnDelete',
    };
  const { replicas: nodes, update } = view;
  const maxUnavailable = maxUnavailableNodes(set, nodes);
  const names = new Set(decideShare({ nodes, update, runs, most, maxUnavailable, pods: sharedPods(view) }));
  const replace = view.pods.filter(({ pod }) => names.has(pod.metadata.name)).map(({ pod }) => pod);
  return { replace, summary: replace.length === 0 ? '' : `replaced pods: ${[...names].join(', ')}` };
}

function typeOf({ spec }: ReadableDaemonSet): string {
  return spec.updateStrategy?.type ?? 'RollingUpdate';
}
