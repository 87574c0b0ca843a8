import { tolerates } from '@rollkeeper/machinery/kubernetes';
import type { Taint, Toleration } from '@rollkeeper/machinery/kubernetes';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { unresolvable } from '../framework/status.js';
import { isSamePod, onNodes, onPods } from './hints.js';
import { inReverseProportion } from './normalize.js';

const REFUSAL = unresolvable('node(s) had untolerated taint(s)');

/** Refuses nodes with taints that the pod does not tolerate, and prefers those with few that only advise against them. */
export const taintToleration: PluginFactory = () => {
  const plugin: SchedulerPlugin<undefined, readonly Toleration[]> = {
    name: 'TaintToleration',
    eventsToRegister: [
      onNodes(['add', 'update-node-taints'], ({ spec: { tolerations } }, before, after) => {
        const wasKeptAway = !before || hasUntoleratedTaint(before.spec?.taints, tolerations);
        return wasKeptAway && !hasUntoleratedTaint(after?.spec?.taints, tolerations);
      }),
      onPods(['update-pod-tolerations'], (pod, _before, after) => isSamePod(pod, after)),
    ],
    filter({ node }, { pod }) {
      return hasUntoleratedTaint(node.spec?.taints, pod.pod.spec.tolerations) ? REFUSAL : undefined;
    },
    preScore({ pod }) {
      const tolerations = pod.pod.spec.tolerations ?? [];
      return { state: tolerations.filter(({ effect }) => !effect || effect === 'PreferNoSchedule') };
    },
    score({ node }, _context, tolerations) {
      let count = 0;
      for (const taint of node.spec?.taints ?? [])
        if (taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)) count++;
      return count;
    },
    normalizeScores: inReverseProportion,
  };
  return plugin;
};

/** Whether a taint keeps such pods away. */
export function hasUntoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] = [],
): boolean {
  if (!taints) return false;
  return taints.some(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !isTolerated(taint, tolerations),
  );
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}
