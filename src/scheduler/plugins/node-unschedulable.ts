import { tolerates } from '@rollkeeper/machinery/kubernetes';
import type { Taint } from '@rollkeeper/machinery/kubernetes';
import type { PluginFactory } from '../framework/plugin.js';
import { unresolvable } from '../framework/status.js';

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const REFUSAL = unresolvable('node(s) were unschedulable');

/** Refuses cordoned nodes, unless the pod tolerates the taint that stands for the cordon. */
export const nodeUnschedulable: PluginFactory = () => ({
  name: 'NodeUnschedulable',
  filter({ node }, { pod }) {
    if (node.spec?.unschedulable !== true) return undefined;
    return pod.pod.spec.tolerations?.some((each) => tolerates(each, CORDON)) ? undefined : REFUSAL;
  },
});
