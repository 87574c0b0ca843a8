import type { RandomSource } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ClusterView } from '../framework/cluster-view.js';
import type { NodeInfo, NominatedPods, PodInfo, Snapshot } from '../framework/node-info.js';
import type { Profile } from '../framework/profile.js';
import type { Status } from '../framework/status.js';
import { unresolvable } from '../framework/status.js';
import { Attempt } from './attempt.js';
import type { Chosen, Decision, Failed, Refused } from './decision.js';
import { NO_NODES, refusalMessage } from './message.js';
import type { PointTimer } from './point-timer.js';
import { timed } from './point-timer.js';
import { preFilter } from './pre-filter.js';
import { pickBest, scoreNodes } from './score-nodes.js';
import type { PostFilterContext, PostFilterResult } from '../framework/plugin.js';

export interface PodDecisionInput {
  readonly pod: PodInfo;
  readonly snapshot: Snapshot;
  readonly nominated: NominatedPods;
  readonly view: ClusterView;
  readonly profile: Profile;
  readonly random: RandomSource;
  /** `nextStartIndex` of the decision before; 0 for the first. */
  readonly startIndex: number;
  /** @default nothing is noted */
  readonly timer?: PointTimer;
}

/** Nodes that passed all filters, not scored yet. */
export interface Found {
  readonly kind: 'found';
  readonly nodes: readonly NodeInfo[];
  readonly attempt: Attempt;
  readonly input: PodDecisionInput;
  readonly refusals: ReadonlyMap<string, Status>;
  readonly isOutside?: Status | undefined;
  readonly nextStartIndex: number;
}

/** The opinion of HTTP extenders on the nodes that were found. */
export interface ExtendersWord {
  /** Why they refuse some of the nodes, by node name. */
  readonly refusals?: ReadonlyMap<string, Status>;
  /** Weighted scores on top of the plug-ins', by node name. */
  readonly scores?: ReadonlyMap<string, number>;
}

/** Decides on which node the pod should run, or why on none, and which pods would have to go. Pure but for `random`. */
export function decidePod(input: PodDecisionInput): Decision {
  const found = findNodes(input);
  return found.kind === 'found' ? chooseNode(found) : found;
}

/** The first half of {@link decidePod}: everything that comes before extenders are asked. */
export function findNodes(input: PodDecisionInput): Found | Refused | Failed {
  const { nominated, pod, profile, snapshot, timer, view } = input;
  const attempt = new Attempt({ context: { pod, snapshot, view }, nominated, profile, timer });
  return guarded(attempt, () => find(attempt, input));
}

/** The second half of {@link decidePod}: scores, or PostFilter where extenders left nothing. */
export function chooseNode(found: Found, { refusals, scores }: ExtendersWord = {}): Decision {
  const { attempt } = found;
  return guarded(attempt, () => {
    if (!refusals || refusals.size === 0) return chosen(found, found.nodes, scores);
    const left = found.nodes.filter(({ name }) => !refusals.has(name));
    const all = new Map([...found.refusals, ...refusals]);
    return left.length > 0
      ? chosen({ ...found, refusals: all }, left, scores)
      : refused(attempt, found.input, { ...found, refusals: all });
  });
}

function guarded<T>(attempt: Attempt, run: () => T): T | Failed {
  try {
    return run();
  } catch (error) {
    return { kind: 'failed', plugin: attempt.asking, message: errorMessage(error) };
  }
}

function find(attempt: Attempt, input: PodDecisionInput): Found | Refused {
  const { nodes } = input.snapshot;
  if (nodes.length === 0) return noNodes();
  const startIndex = input.startIndex % nodes.length;
  const { narrowed, refusal } = timed(
    attempt.timer,
    'PreFilter',
    () => preFilter(attempt),
    (done) => done.refusal,
  );
  if (refusal) return refused(attempt, input, { preFilterRefusal: refusal, nextStartIndex: startIndex });

  const common = { kind: 'found', attempt, input } as const;
  const onNominated = filterNominated(attempt, input);
  if (onNominated && onNominated.nodes.length > 0)
    return { ...common, ...onNominated, nextStartIndex: startIndex };

  const candidates = narrowed ? nodes.filter(({ name }) => narrowed.names.has(name)) : nodes;
  const found = timed(attempt.timer, 'Filter', () => findFeasible(attempt, candidates, startIndex));
  const looked = found.nodes.length + found.refusals.size;
  const nextStartIndex = (startIndex + looked) % nodes.length;
  const isOutside: Status | undefined = narrowed && {
    ...unresolvable(`node(s) didn't satisfy plugin(s) [${[...narrowed.by].sort().join(' ')}]`),
    plugin: narrowed.by[0] ?? '',
  };
  return found.nodes.length > 0
    ? { ...common, ...found, isOutside, nextStartIndex }
    : refused(attempt, input, { refusals: found.refusals, isOutside, nextStartIndex });
}

/** The node that an earlier attempt made room on is tried before any other, and taken if it fits. */
function filterNominated(attempt: Attempt, { pod, snapshot }: PodDecisionInput): Feasible | undefined {
  const name = pod.pod.status?.nominatedNodeName;
  const node = name ? snapshot.get(name) : undefined;
  return node && findFeasible(attempt, [node], 0);
}

function chosen(
  { attempt, input, nextStartIndex, refusals }: Found,
  feasible: readonly NodeInfo[],
  extra: ReadonlyMap<string, number> | undefined,
): Chosen {
  const common = { kind: 'chosen', feasible, refusals, nextStartIndex } as const;
  if (feasible.length === 1) return { ...common, node: feasible[0]! };
  const scores = scoreNodes(attempt, feasible, extra);
  return { ...common, node: feasible[pickBest(scores.totals, input.random)]!, scores };
}

interface RefusalParts {
  readonly nextStartIndex: number;
  readonly preFilterRefusal?: Status;
  readonly refusals?: ReadonlyMap<string, Status>;
  /** Why nodes that PreFilter left out are. */
  readonly isOutside?: Status | undefined;
}

function refused(attempt: Attempt, { random, snapshot }: PodDecisionInput, parts: RefusalParts): Refused {
  const { isOutside, nextStartIndex, preFilterRefusal, refusals = NONE } = parts;
  const ofAll = refusalsOfAll(snapshot.nodes, refusals, preFilterRefusal ?? isOutside);
  const { deallocate, message, nomination, victims } = timed(
    attempt.timer,
    'PostFilter',
    () => postFilter(attempt, { refusals: ofAll, preFilterRefusal, random }),
    (done) => (done.message === '' ? undefined : { code: 'Unschedulable' }),
  );
  return {
    kind: 'refused',
    message: refusalMessage({
      nodes: snapshot.nodes.length,
      refusals: ofAll.values(),
      preFilterRefusal,
      postFilter: message,
    }),
    refusals: ofAll,
    ...(preFilterRefusal && { preFilterRefusal }),
    ...(nomination && { nomination }),
    ...(deallocate && { deallocate }),
    victims,
    unschedulablePlugins: pluginsOf(ofAll.values(), false),
    pendingPlugins: pluginsOf(ofAll.values(), true),
    nextStartIndex,
  };
}

const NONE: ReadonlyMap<string, Status> = new Map();

/** Every node with why it was refused, those that were not asked with `others`. */
function refusalsOfAll(
  nodes: readonly NodeInfo[],
  refusals: ReadonlyMap<string, Status>,
  others: Status | undefined,
): ReadonlyMap<string, Status> {
  if (!others) return refusals;
  return new Map(nodes.map(({ name }) => [name, refusals.get(name) ?? others]));
}

function pluginsOf(statuses: Iterable<Status>, isPending: boolean): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { code, plugin } of statuses)
    if (plugin && (code === 'Pending') === isPending) names.add(plugin);
  return names;
}

function noNodes(): Refused {
  return {
    kind: 'refused',
    message: NO_NODES,
    refusals: NONE,
    nomination: { node: undefined },
    victims: [],
    unschedulablePlugins: new Set(),
    pendingPlugins: new Set(),
    nextStartIndex: 0,
  };
}

interface PostFiltered {
  /** Empty where a plug-in found a way. */
  readonly message: string;
  readonly nomination?: PostFilterResult['nomination'];
  readonly victims: readonly PodInfo[];
  readonly deallocate?: PostFilterResult['deallocate'];
}

interface PostFilterParts {
  readonly refusals: ReadonlyMap<string, Status>;
  readonly preFilterRefusal?: Status | undefined;
  readonly random: RandomSource;
}

/** Asks plug-ins what can be done, until one finds a way or ends it. */
function postFilter(attempt: Attempt, parts: PostFilterParts): PostFiltered {
  const context: PostFilterContext = {
    ...attempt.context,
    ...parts,
    trial: (node) => attempt.trial(node),
  };
  const reasons: string[] = [];
  let nomination: PostFilterResult['nomination'];
  let deallocate: PostFilterResult['deallocate'];
  for (const plugin of attempt.profile.postFilter) {
    attempt.asking = plugin.name;
    const result = plugin.postFilter?.(context, attempt.stateOf(plugin)) ?? {};
    const { status } = result;
    deallocate = result.deallocate ?? deallocate;
    if (!status || status.code === 'Success')
      return { message: '', nomination: result.nomination, victims: result.victims ?? [], deallocate };
    if (status.code !== 'Unschedulable')
      return { message: status.reasons.join(', '), nomination: result.nomination, victims: [], deallocate };
    nomination = result.nomination ?? nomination;
    reasons.push(...status.reasons);
  }
  return { message: reasons.join(', '), nomination, victims: [], deallocate };
}

/** Below this many nodes all are looked at. */
const FEWEST_TO_FIND = 100;
const FEWEST_PERCENT = 5;

export interface Feasible {
  readonly nodes: readonly NodeInfo[];
  readonly refusals: Map<string, Status>;
}

/** Filters nodes in turn from `startIndex` on until enough are found. */
export function findFeasible(attempt: Attempt, nodes: readonly NodeInfo[], startIndex: number): Feasible {
  const enough = nodesToFind(nodes.length, attempt.profile.percentageOfNodesToScore);
  const found: NodeInfo[] = [];
  const refusals = new Map<string, Status>();
  for (let step = 0; step < nodes.length && found.length < enough; step++) {
    const node = nodes[(startIndex + step) % nodes.length]!;
    const verdict = attempt.filter(node);
    if (verdict) refusals.set(node.name, verdict);
    else found.push(node);
  }
  return { nodes: found, refusals };
}

/** How many feasible nodes are enough: the larger the cluster, the smaller the share. */
export function nodesToFind(all: number, percentage = 0): number {
  if (all < FEWEST_TO_FIND) return all;
  const share = percentage > 0 ? percentage : Math.max(FEWEST_PERCENT, 50 - Math.trunc(all / 125));
  return Math.max(FEWEST_TO_FIND, Math.trunc((all * share) / 100));
}
