import { isPodFinished, isTerminating, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { RandomSource } from '@rollkeeper/machinery/clock';
import { SchedulerCache } from '../cache/scheduler-cache.js';
import { decidePod } from '../decide/decide-pod.js';
import type { ClusterView } from '../framework/cluster-view.js';
import type { NodeInfo, ReadableNode, ReadablePod } from '../framework/node-info.js';
import type { SchedulerPlugin, SchedulingContext } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { isRefusal } from '../framework/status.js';
import { podInfoOf } from '../node/pod-info.js';
import { remedyFor } from './remedies.js';

/** The known part of the cluster. */
export interface PlacementWorld {
  readonly pod: ReadablePod;
  readonly nodes: readonly ReadableNode[];
  /** All pods; those of other namespaces may be missing. */
  readonly pods: readonly ReadablePod[];
  readonly view: ClusterView;
  /** By `schedulerName`. */
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly random: RandomSource;
}

/** Why a plug-in refuses a node, or the pod as a whole. */
export interface PluginObstacle {
  readonly plugin: string;
  readonly reasons: readonly string[];
  /** Others' eviction could undo it. */
  readonly isResolvable: boolean;
  /** A remedy, if there is one to name. */
  readonly remedy?: string;
}

export interface NodeObstacles {
  readonly node: string;
  /** The obstacles by every plug-in that refuses it; none: the pod could run there. */
  readonly obstacles: readonly PluginObstacle[];
}

export type PlacementState = 'bound' | 'ended' | 'deleting' | 'gated' | 'elsewhere' | 'waits' | 'refused';

export interface PlacementExplanation {
  readonly pod: string;
  /** `waits`: it has a place and is not bound yet. `elsewhere`: another scheduler is asked for. */
  readonly state: PlacementState;
  /** One sentence. */
  readonly summary: string;
  /** The message that the scheduler would write into the PodScheduled condition now. */
  readonly message?: string;
  /** The obstacles of the pod as a whole. */
  readonly obstacles: readonly PluginObstacle[];
  readonly nodes: readonly NodeObstacles[];
  /** Pods that would have to go, and the node that they would make room on. */
  readonly preemption?: { readonly node: string; readonly victims: readonly string[] };
  /** The things that were left out of account, and why. */
  readonly notes: readonly string[];
}

type Explained = Omit<PlacementExplanation, 'pod' | 'obstacles' | 'nodes' | 'notes'> &
  Partial<Pick<PlacementExplanation, 'obstacles' | 'nodes' | 'notes'>>;

/** Why a pod is on no node: every plug-in about every node, and not the first refusal alone. Pure. */
export function explainPlacement(world: PlacementWorld): PlacementExplanation {
  const { metadata } = world.pod;
  const explained = known(world.pod, world.profiles) ?? decided(world);
  const pod = `${metadata.namespace ?? ''}/${metadata.name}`;
  return { pod, obstacles: [], nodes: [], notes: [], ...explained };
}

/** Explains a pod that needs no decision. */
function known(pod: ReadablePod, profiles: PlacementWorld['profiles']): Explained | undefined {
  const { nodeName, schedulerName = 'default-scheduler' } = pod.spec;
  if (isPodFinished(pod)) return { state: 'ended', summary: `It has ended (${pod.status?.phase ?? ''}).` };
  if (isTerminating(pod) && !nodeName)
    return { state: 'deleting', summary: 'It is being deleted, and is not scheduled any more.' };
  if (nodeName) return { state: 'bound', summary: `It is on node ${nodeName}.` };
  if (profiles.has(schedulerName)) return undefined;
  return {
    state: 'elsewhere',
    summary: `It is scheduled by "${schedulerName}"; the configuration has ${[...profiles.keys()].join(', ')}.`,
  };
}

function decided(world: PlacementWorld): Explained {
  const { pod, profiles, random, view } = world;
  const profile = profiles.get(pod.spec.schedulerName ?? 'default-scheduler')!;
  const gate = gateOf(profile, pod, view);
  if (gate)
    return {
      state: 'gated',
      summary: `It is not tried before ${gate.plugin} lets it: ${gate.reasons.join(', ')}.`,
      obstacles: [gate],
    };
  const cache = cacheOf(world);
  const snapshot = cache.snapshot();
  const info = podInfoOf(pod);
  const { nominated } = cache;
  const decision = decidePod({ pod: info, snapshot, nominated, view, profile, random, startIndex: 0 });
  const { nodes, obstacles } = everyRefusal(profile, { pod: info, snapshot, view });
  if (decision.kind === 'chosen')
    return {
      state: 'waits',
      summary: `It could be placed now, for example on ${decision.node.name}: the scheduler is about to, or does not run.`,
      nodes,
    };
  if (decision.kind === 'failed')
    return {
      state: 'refused',
      summary: `The plug-in ${decision.plugin} fails: ${decision.message}.`,
      nodes,
      obstacles,
    };
  const node = decision.nomination?.node;
  const victims = decision.victims.map(({ key }) => key);
  return {
    state: 'refused',
    summary: summaryOf(nodes, obstacles),
    message: decision.message,
    nodes,
    obstacles,
    ...(node !== undefined && victims.length > 0 && { preemption: { node, victims } }),
  };
}

function summaryOf(nodes: readonly NodeObstacles[], obstacles: readonly PluginObstacle[]): string {
  if (nodes.length === 0) return 'There are no nodes.';
  const [whole] = obstacles;
  if (whole) return `No node comes into question: ${whole.reasons.join(', ')} (${whole.plugin}).`;
  return `None of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'} can take it.`;
}

function gateOf({ preEnqueue }: Profile, pod: ReadablePod, view: ClusterView): PluginObstacle | undefined {
  for (const plugin of preEnqueue) {
    const verdict = plugin.preEnqueue?.(pod, view);
    if (verdict) return { plugin: plugin.name, reasons: verdict.reasons, isResolvable: false };
  }
  return undefined;
}

function cacheOf({ nodes, pod, pods }: PlacementWorld): SchedulerCache {
  const cache = new SchedulerCache();
  for (const node of nodes) cache.setNode(node);
  for (const other of pods) {
    if (other.metadata.uid === pod.metadata.uid) continue;
    cache.setPod(other);
    const nominated = other.status?.nominatedNodeName;
    if (nominated && !other.spec.nodeName) cache.nominate(podInfoOf(other), nominated);
  }
  return cache;
}

/** Asks every plug-in about every node, each by itself. */
function everyRefusal(
  { filter, preFilter }: Profile,
  context: SchedulingContext,
): { readonly obstacles: readonly PluginObstacle[]; readonly nodes: readonly NodeObstacles[] } {
  const obstacles: PluginObstacle[] = [];
  const states = new Map<string, unknown>();
  const skipped = new Set<string>();
  const narrowed: { readonly plugin: string; readonly names: ReadonlySet<string> }[] = [];
  for (const plugin of preFilter) {
    const { nodeNames, state, status } = plugin.preFilter?.(context) ?? {};
    states.set(plugin.name, state);
    if (nodeNames) narrowed.push({ plugin: plugin.name, names: nodeNames });
    if (status?.code === 'Skip' || isRefusal(status)) skipped.add(plugin.name);
    if (isRefusal(status) && !obstacles.some(({ reasons }) => sameJson(reasons, status.reasons)))
      obstacles.push(obstacleOf(plugin.name, status, context, undefined));
  }
  const nodes = context.snapshot.nodes.map((node) => ({
    node: node.name,
    obstacles: [
      ...narrowed
        .filter(({ names }) => !names.has(node.name))
        .map(({ plugin }) => ({ plugin, reasons: ['the pod names other nodes'], isResolvable: false })),
      ...filter.flatMap((plugin) =>
        skipped.has(plugin.name) ? [] : refusalOf(plugin, node, context, states.get(plugin.name)),
      ),
    ],
  }));
  return { obstacles, nodes };
}

function refusalOf(
  plugin: SchedulerPlugin,
  node: NodeInfo,
  context: SchedulingContext,
  state: unknown,
): PluginObstacle[] {
  const verdict = plugin.filter?.(node, context, state);
  return isRefusal(verdict) ? [obstacleOf(plugin.name, verdict, context, node)] : [];
}

function obstacleOf(
  plugin: string,
  { code, reasons }: { readonly code: string; readonly reasons: readonly string[] },
  { pod }: SchedulingContext,
  node: NodeInfo | undefined,
): PluginObstacle {
  const remedy = node && remedyFor(plugin, pod, node);
  return {
    plugin,
    reasons,
    isResolvable: code === 'Unschedulable',
    ...(remedy !== undefined && { remedy }),
  };
}
