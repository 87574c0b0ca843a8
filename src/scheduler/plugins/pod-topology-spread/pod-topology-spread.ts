import type { PluginFactory, SchedulerPlugin, SchedulingContext } from '../../framework/plugin.js';
import { SKIP } from '../../framework/status.js';
import type { DefaultConstraint } from '../plugin-args.js';
import { compileArgs, podTopologySpreadArgs } from '../plugin-args.js';
import type { Constraint } from './constraint.js';
import { HOSTNAME, compileConstraint, statedConstraints } from './constraint.js';
import { podInfoOf } from '../../node/pod-info.js';
import { spreadEvents } from './spread-events.js';
import { defaultSelector } from './default-selector.js';
import type { SpreadState } from './hard-constraints.js';
import { changeDomains, countDomains, filterSpread } from './hard-constraints.js';
import type { SoftSpread } from './soft-constraints.js';
import { favourFewest, scoreSpread, weighDomains } from './soft-constraints.js';

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
      ? statedConstraints(context.pod, whenUnsatisfiable)
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

function compileDefaults(
  { pod: { pod }, view }: PodInView,
  defaults: readonly DefaultConstraint[],
  whenUnsatisfiable: string,
): readonly Constraint[] {
  const wanted = defaults.filter((each) => each.whenUnsatisfiable === whenUnsatisfiable);
  const selector = wanted.length > 0 ? defaultSelector(pod, view) : undefined;
  if (!selector) return [];
  return wanted.map((each) => compileConstraint({ ...each, ...selector }, pod));
}
