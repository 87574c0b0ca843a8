import type { PluginFactory, SchedulerPlugin, SchedulingContext } from '../../framework/plugin.js';
import { SKIP } from '../../framework/status.js';
import type { DefaultConstraint } from '../plugin-args.js';
import { compileArgs, podTopologySpreadArgs } from '../plugin-args.js';
import type { Constraint } from './constraint.js';
import { HOSTNAME, compileConstraint, statedConstraints } from './constraint.js';
import { podInfoOf } from '../../node/pod-info.js';
import { spreadEvents } from './spread-events.js';
import type { SpreadState } from './hard-constraints.js';
import { changeDomains, countDomains, filterSpread } from './hard-constraints.js';
import type { SoftSpread } from './soft-constraints.js';
import { favourFewest, scoreSpread, weighDomains } from './soft-constraints.js';
import {
  compileLabelSelector,
  controllerOf,
  isEmptySelector,
  replacedOwners,
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
function defaultSelector(pod: ReadablePod, view: ClusterView): DefaultSelector | undefined {
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

/** The constraints of pods that state none. */
const SYSTEM_DEFAULTS: readonly DefaultConstraint[] = [
  { topologyKey: HOSTNAME, maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
];

/** Spreads the pods of a kind evenly over nodes, zones and other domains. */
export const podTopologySpread: PluginFactory = (args, { view }) => {
  const { defaultConstraints, defaultingType } = compileArgs(podTopologySpreadArgs, args);
  const areSystemDefaults = defaultingType === 'System';
  const defaults = areSystemDefaults ? SYSTEM_DEFAULTS : defaultConstraints;
  const constraintsOf = (context: PodInView, whenUnsatisfiable: string): readonly Constraint[] =>
    hasOwnConstraints(context)
      ? statedConstraints(context.pod, whenUnsatisfiable, leavingBeside(context))
      : compileDefaults(context, defaults, whenUnsatisfiable);
  const plugin: SchedulerPlugin<SpreadState, SoftSpread> = {
    name: 'PodTopologySpread',
    eventsToRegister: spreadEvents((pod) => constraintsOf({ pod: podInfoOf(pod), view }, 'DoNotSchedule')),
    preFilter(context) {
      const constraints = constraintsOf(context, 'DoNotSchedule');
      return constraints.length > 0 ? { state: countDomains(context, constraints) } : { status: SKIP };
    },
    withPod: (state, added, node, { pod }) => changeDomains(state, added, node, { by: 1, pod }),
    withoutPod: (state, removed, node, { pod }) => changeDomains(state, removed, node, { by: -1, pod }),
    filter: filterSpread,
    preScore(context, feasible) {
      const constraints = constraintsOf(context, 'ScheduleAnyway');
      if (constraints.length === 0) return { status: SKIP };
      const requiresAllKeys = hasOwnConstraints(context) || !areSystemDefaults;
      return { state: weighDomains(context, feasible, constraints, { requiresAllKeys }) };
    },
    score: scoreSpread,
    normalizeScores: (raw, feasible, _context, state) => favourFewest(raw, feasible, state),
  };
  return plugin;
};

type PodInView = Pick<SchedulingContext, 'pod' | 'view'>;

function hasOwnConstraints({ pod }: PodInView): boolean {
  return (pod.pod.spec.topologySpreadConstraints ?? []).length > 0;
}

/** The controllers whose pods a rollout replaces by those of this pod's controller. */
function leavingBeside({
  pod: { pod },
  view,
}: {
  readonly pod: Pick<PodInView['pod'], 'pod'>;
  readonly view: ClusterView;
}): readonly string[] {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'ReplicaSet') return [];
  const { namespace = '' } = pod.metadata;
  return replacedOwners(view.get<KubernetesObject>('apps/replicasets', { namespace, name: owner.name }));
}

function compileDefaults(
  { pod: { pod }, view }: PodInView,
  defaults: readonly DefaultConstraint[],
  whenUnsatisfiable: string,
): readonly Constraint[] {
  const wanted = defaults.filter((each) => each.whenUnsatisfiable === whenUnsatisfiable);
  const selector = wanted.length > 0 ? defaultSelector(pod, view) : undefined;
  if (!selector) return [];
  const leaving = leavingBeside({ pod: { pod }, view });
  return wanted.map((each) => compileConstraint({ ...each, ...selector, leaving }, pod));
}
