import {
  compileLabelSelector,
  controllerOf,
  isEmptySelector,
  tryCompileLabelSelector,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, LabelMatcher, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView, ViewedResource } from '../../framework/cluster-view.js';
import type { ReadablePod } from '../../framework/node-info.js';

interface Selecting extends KubernetesObject {
  spec?: { selector?: Record<string, string> };
}

interface SelectingBySelector extends KubernetesObject {
  spec?: { selector?: LabelSelector };
}

const REPLICATION_CONTROLLER = 'v1/ReplicationController';
const WITH_SELECTOR: Readonly<Record<string, ViewedResource>> = {
  'apps/v1/ReplicaSet': 'apps/replicasets',
  'apps/v1/StatefulSet': 'apps/statefulsets',
};

interface DefaultSelector {
  readonly selects: LabelMatcher;
  /** Equal keys mean equal selections. */
  readonly selectorKey: string;
}

/**
 * The pods that belong together with this one: those of its Services and of its controller.
 * @returns undefined where neither selects anything
 */
export function defaultSelector(pod: ReadablePod, view: ClusterView): DefaultSelector | undefined {
  const { namespace = '', labels } = pod.metadata;
  const wanted: Record<string, string> = {};
  for (const { spec } of view.list<Selecting>('services', namespace)) {
    const matchLabels = spec?.selector;
    if (matchLabels && compileLabelSelector({ matchLabels })(labels)) Object.assign(wanted, matchLabels);
  }
  const owner = controllerOf(pod);
  const kind = owner ? `${owner.apiVersion}/${owner.kind}` : '';
  const ref = { namespace, name: owner?.name ?? '' };
  if (kind === REPLICATION_CONTROLLER)
    Object.assign(wanted, view.get<Selecting>('replicationcontrollers', ref)?.spec?.selector);
  const resource = WITH_SELECTOR[kind];
  const selector = resource && view.get<SelectingBySelector>(resource, ref)?.spec?.selector;
  const hasNone = Object.keys(wanted).length === 0;
  if (hasNone && isEmptySelector(selector)) return undefined;
  const ofServices = compileLabelSelector({ matchLabels: wanted });
  const ofController = selector && tryCompileLabelSelector(selector);
  return {
    selects: ofController ? (labels) => ofServices(labels) && ofController(labels) : ofServices,
    selectorKey: stringifyJson([wanted, selector]),
  };
}
