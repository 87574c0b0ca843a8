import type { DeepReadonly, Node, Pod, Taint, Toleration } from '@rollkeeper/machinery/kubernetes';
import { isNodeSelected, nodeNamedByAffinity, tolerates } from '@rollkeeper/machinery/kubernetes';
import type { DaemonSet } from '@rollkeeper/runtime';
import { REVISION_LABEL, podFromTemplate, podNamePrefix, seedOf, stablePodNames } from '../shared/index.js';

export type ReadableSet = DeepReadonly<DaemonSet>;
export type ReadablePod = DeepReadonly<Pod>;
export type ReadableNode = DeepReadonly<Node>;

/** The annotation of the DaemonSet whose value is a label of its pods. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const GENERATION_LABEL = 'pod-template-generation';

/**
 * Daemons stay on nodes that other pods are evicted from, and run where others may not. Source:
 * AddOrUpdateDaemonPodTolerations.
 */
const TOLERATIONS: readonly Toleration[] = [
  ...(['not-ready', 'unreachable'] as const).map((name) => tolerationOf(name, 'NoExecute')),
  ...(['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'] as const).map((name) =>
    tolerationOf(name, 'NoSchedule'),
  ),
];
const OF_THE_HOSTS_NETWORK = tolerationOf('network-unavailable', 'NoSchedule');

export interface NodeFit {
  /** The node should have a pod. */
  readonly shouldRun: boolean;
  /** An existing pod may stay. */
  readonly mayStay: boolean;
}

/** Whether the node is suitable for the set. Source: `NodeShouldRunDaemonPod` in k/k pkg/controller/daemon. */
export function fitOf(set: ReadableSet, node: ReadableNode): NodeFit {
  const { spec } = set.spec.template;
  const isMeant = spec?.nodeName === undefined || spec.nodeName === node.metadata.name;
  if (!spec || !isMeant || !isNodeSelected(spec, node)) return { shouldRun: false, mayStay: false };
  const tolerations = tolerationsOf(set);
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint: Taint) => !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  const drives = untolerated.some(({ effect }) => effect === 'NoExecute');
  const repels = untolerated.some(({ effect }) => effect === 'NoSchedule');
  return { shouldRun: !drives && !repels, mayStay: !drives };
}

/** The node of the pod, current or intended. */
export function targetNodeOf({ spec }: ReadablePod): string | undefined {
  return spec.nodeName ? spec.nodeName : nodeNamedByAffinity(spec);
}

/** A pod for one node, with a name derived from the set and the node. */
export function daemonPod(
  set: ReadableSet,
  node: string,
  hash: string,
  isTaken: (name: string) => boolean,
): Pod {
  const { metadata, spec } = set;
  const generateName = podNamePrefix(metadata.name);
  const [name = ''] = stablePodNames({
    prefix: generateName,
    seed: seedOf(set, node),
    count: 1,
    isTaken,
  });
  const pod = podFromTemplate({ owner: set, template: spec.template, name, generateName });
  const generation = metadata.annotations?.[TEMPLATE_GENERATION];
  pod.metadata.labels = {
    ...pod.metadata.labels,
    ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
    [REVISION_LABEL]: hash,
  };
  pod.spec.tolerations = tolerationsOf(set);
  pod.spec.affinity = { ...pod.spec.affinity, nodeAffinity: onlyOn(node, pod.spec) };
  return pod;
}

function tolerationsOf({ spec }: ReadableSet): Toleration[] {
  const { hostNetwork, tolerations = [] } = spec.template.spec ?? {};
  const added = hostNetwork ? [...TOLERATIONS, OF_THE_HOSTS_NETWORK] : TOLERATIONS;
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key &&
    a.effect === b.effect &&
    (a.operator ?? 'Equal') === b.operator &&
    (a.value ?? '') === '';
  const others = tolerations.filter((each) => !added.some((own) => isSame(each, own)));
  return [...others, ...added];
}

/** Suitable nodes were already selected. */
function onlyOn(node: string, { affinity }: Pod['spec']) {
  const isNode = { key: 'metadata.name', operator: 'In' as const, values: [node] };
  const required = { nodeSelectorTerms: [{ matchFields: [isNode] }] };
  return { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
}

function tolerationOf(name: string, effect: 'NoExecute' | 'NoSchedule'): Toleration {
  return { key: `node.kubernetes.io/${name}`, operator: 'Exists', effect };
}
