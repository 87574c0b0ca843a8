import type { Lister } from '@rollkeeper/runtime';
import { labelIndexValue } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { compileLabelSelector, controllerOf, isPodActive, keyOf } from '@rollkeeper/machinery/kubernetes';
import { TEMPLATE_INDEX, selectedFrom } from '../../../shared/index.js';

/** The caches that show whose pods a Service selects. */
export interface Workloads {
  /** The Deployments of each API, with TEMPLATE_INDEX. */
  readonly deployments: readonly Lister<Deployment>[];
  readonly replicaSets: Lister<ReplicaSet>;
  /** With LABEL_INDEX. */
  readonly pods: Lister<Pod>;
}

/**
 * Names a workload other than the Deployment whose pods have these labels: by its template, also while it has no pods, and by
 * its pods. What is about to go with its owner does not count. Undefined: there is none.
 */
export function otherWorkload(
  { deployments, pods, replicaSets }: Workloads,
  deployment: DeepReadonly<Deployment>,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  const { namespace = '', uid } = deployment.metadata;
  const [first] = Object.entries(labels);
  if (!first) return undefined;
  const selector = { matchLabels: labels };
  const matches = compileLabelSelector(selector);
  const rival = deployments
    .flatMap((lister) => lister.byIndex(TEMPLATE_INDEX, labelIndexValue(namespace, ...first)))
    .filter(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined)
    .find(({ spec }) => matches(spec.template.metadata?.labels));
  if (rival) return `Deployment "${rival.metadata.name}"`;
  for (const pod of selectedFrom(pods, namespace, selector)) {
    const owner = isPodActive(pod) ? otherOwner(pod) : undefined;
    if (owner !== undefined) return owner;
  }
  return undefined;

  function otherOwner(pod: DeepReadonly<Pod>): string | undefined {
    const controller = controllerOf(pod);
    if (!controller) return `pod "${pod.metadata.name}"`;
    if (controller.kind !== 'ReplicaSet') return `${controller.kind} "${controller.name}"`;
    const set = replicaSets.get(keyOf({ namespace, name: controller.name }));
    if (set?.metadata.uid !== controller.uid) return undefined;
    const of = controllerOf(set);
    if (!of) return isAdoptable(set) ? undefined : `ReplicaSet "${set.metadata.name}"`;
    if (of.uid === uid) return undefined;
    const isGone =
      of.kind === 'Deployment' &&
      deployments.every((lister) => lister.get(keyOf({ namespace, name: of.name }))?.metadata.uid !== of.uid);
    return isGone ? undefined : `${of.kind} "${of.name}"`;
  }

  /** The Deployment takes it over with this pass, or a later one. */
  function isAdoptable({ metadata }: DeepReadonly<ReplicaSet>): boolean {
    return compileLabelSelector(deployment.spec.selector)(metadata.labels);
  }
}
