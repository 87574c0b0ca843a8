import { isTerminating } from '@rollkeeper/machinery/kubernetes';
import { refusalMessage } from '../../decide/message.js';
import type { NodeInfo, PodInfo } from '../../framework/node-info.js';
import type { PluginFactory, PostFilterContext, PostFilterResult } from '../../framework/plugin.js';
import type { Status } from '../../framework/status.js';
import { unresolvable, unschedulable } from '../../framework/status.js';
import { compileArgs, defaultPreemptionArgs } from '../plugin-args.js';
import { budgetsIn } from './select-victims.js';
import type { Candidate } from './select-victims.js';
import { isCandidate, selectVictims } from './select-victims.js';
import { startTimeOf } from './select-victims.js';

/** Makes sums of priorities grow with the number of victims, though priorities may be negative. */
const OFFSET = 2 ** 31;

/** The larger its value, the better the candidate. Each one only counts among those that the ones before leave equal. */
const CRITERIA: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => -violations,
  ({ victims }) => -(victims[0]?.priority ?? -Infinity),
  ({ victims }) => -victims.reduce((sum, { priority }) => sum + priority + OFFSET, 0),
  ({ victims }) => -victims.length,
  earliestStart,
];

/** The candidate that does the least harm; the first of equals. */
export function pickCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates;
  for (const valueOf of CRITERIA) {
    if (left.length <= 1) break;
    const values = left.map(valueOf);
    const best = Math.max(...values);
    left = left.filter((_candidate, index) => values[index] === best);
  }
  return left[0];
}

/** When the longest-running of the most important victims was started. */
function earliestStart({ victims }: Candidate): number {
  const highest = victims[0]?.priority;
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startTimeOf));
}

interface PreemptionOptions {
  readonly minCandidateNodesPercentage: number;
  readonly minCandidateNodesAbsolute: number;
}

const NOT_HELPFUL = unresolvable('Preemption is not helpful for scheduling');

/** Finds a node on which the pod would fit if pods of lower priority went. */
export const defaultPreemption: PluginFactory = (args) => {
  const options = compileArgs(defaultPreemptionArgs, args);
  return {
    name: 'DefaultPreemption',
    // The room that victims leave helps by the plug-ins that refused the pod; this one refuses none.
    eventsToRegister: [],
    postFilter(context) {
      const obstacle = obstacleOf(context);
      if (obstacle) return { status: unschedulable(`preemption: ${obstacle}`) };
      return preempt(context, options);
    },
  };
};

/** Why this pod may not preempt at all, or not now. */
function obstacleOf({ pod, refusals, snapshot }: PostFilterContext): string | undefined {
  if (pod.pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = pod.pod.status?.nominatedNodeName;
  if (!nominated || refusals.get(nominated)?.code === 'UnschedulableAndUnresolvable') return undefined;
  const isMakingRoom = snapshot
    .get(nominated)
    ?.pods.some((other) => other.priority < pod.priority && isBeingPreempted(other));
  return isMakingRoom ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

function isBeingPreempted({ pod }: PodInfo): boolean {
  return (
    isTerminating(pod) &&
    (pod.status?.conditions ?? []).some(
      ({ reason, status, type }) =>
        type === 'DisruptionTarget' && status === 'True' && reason === 'PreemptionByScheduler',
    )
  );
}

function preempt(context: PostFilterContext, options: PreemptionOptions): PostFilterResult {
  const { random, refusals, snapshot } = context;
  const potential = snapshot.nodes.filter(({ name }) => isResolvable(refusals.get(name)));
  const statuses = new Map<string, Status>();
  for (const { name } of snapshot.nodes) statuses.set(name, NOT_HELPFUL);
  const offset = Math.floor(random.next() * potential.length);
  const candidates = findCandidates(context, rotated(potential, offset), { options, statuses });
  const best = pickCandidate(candidates);
  if (best) return { nomination: { node: best.node.name }, victims: best.victims };
  const message = refusalMessage({ nodes: snapshot.nodes.length, refusals: statuses.values() });
  return { status: unschedulable(`preemption: ${message}`), nomination: { node: undefined } };
}

function isResolvable(refusal: Status | undefined): boolean {
  return refusal?.code === 'Unschedulable';
}

interface Search {
  readonly options: PreemptionOptions;
  /** Is given why preemption does not help, by node. */
  readonly statuses: Map<string, Status>;
}

function findCandidates(
  context: PostFilterContext,
  potential: readonly NodeInfo[],
  { options, statuses }: Search,
): Candidate[] {
  const { minCandidateNodesAbsolute, minCandidateNodesPercentage } = options;
  const enough = Math.max(
    Math.trunc((potential.length * minCandidateNodesPercentage) / 100),
    minCandidateNodesAbsolute,
  );
  const budgets = budgetsIn(context.view);
  const violating: Candidate[] = [];
  const harmless: Candidate[] = [];
  for (const node of potential) {
    const found = selectVictims(node, context, budgets);
    if (!isCandidate(found)) statuses.set(node.name, found);
    else (found.violations > 0 ? violating : harmless).push(found);
    if (harmless.length > 0 && harmless.length + violating.length >= enough) break;
  }
  return [...harmless, ...violating];
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  return [...items.slice(by), ...items.slice(0, by)];
}
