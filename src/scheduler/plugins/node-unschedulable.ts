import { tolerates } from '@rollkeeper/machinery/kubernetes';
import type { Taint } from '@rollkeeper/machinery/kubernetes';
import type { PluginFactory } from '../framework/plugin.js';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import { unresolvable } from '../framework/status.js';
import { isSamePod, onNodes, onPods } from './hints.js';

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const REFUSAL = unresolvable('node(s) were unschedulable');

/** Refuses cordoned nodes, unless the pod tolerates the taint that represents the cordon. */
export const nodeUnschedulable: PluginFactory = () => ({
  name: 'NodeUnschedulable',
  eventsToRegister: [
    onNodes(
      ['add', 'update-node-taints'],
      (_pod, before, after) => (!before || isCordoned(before)) && after !== undefined && !isCordoned(after),
    ),
    onPods(
      ['update-pod-tolerations'],
      (pod, _before, after) => after !== undefined && isSamePod(pod, after) && toleratesCordon(after),
    ),
  ],
  filter: ({ node }, { pod }) => (isCordoned(node) && !toleratesCordon(pod.pod) ? REFUSAL : undefined),
});

function isCordoned({ spec }: ReadableNode): boolean {
  return spec?.unschedulable === true;
}

function toleratesCordon({ spec }: ReadablePod): boolean {
  return spec.tolerations?.some((each) => tolerates(each, CORDON)) ?? false;
}
