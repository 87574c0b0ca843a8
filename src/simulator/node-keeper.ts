import type { Clock } from '@rollkeeper/machinery/clock';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { Lister } from '@rollkeeper/client/informer';
import type { DeepReadonly, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, keyOf, saysUsageOfNode } from '@rollkeeper/machinery/kubernetes';
import { STARVED_RESOURCES, decideStarvation, decideVictim, evictionVerdict } from './decide-pressure.js';
import type { Starvation, StarvedResource } from './decide-pressure.js';
import { decideShutdown } from './decide-shutdown.js';
import {
  CAPACITY_ANNOTATION,
  NODE_BEHAVIOUR_ANNOTATION,
  SYSTEM_USAGE_ANNOTATION,
  amountsAnnotation,
  isSilent,
  nodeAnnotationProblems,
  nodeBehaviours,
} from './node-behaviour.js';
import type { NodeBehaviour } from './node-behaviour.js';
import { NO_TROUBLES, isAsReported } from './node-object.js';
import type { NodeTrouble } from './node-object.js';
import type { CompiledNodeProfile } from './node-profile.js';
import type { NodeVerdict } from './node-verdict.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableNode = DeepReadonly<Node>;

interface NodeKeeperDependencies {
  readonly nodes: Pick<Lister<Node>, 'get'>;
  readonly pods: Pick<Lister<Pod>, 'list'>;
  /** The newest state of a pod, if that is newer than the cache's. */
  readonly newest: { get(key: string): ReadablePod | undefined };
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly profileOf: (node: string) => CompiledNodeProfile;
  /** Writes the node's status as it is now. */
  readonly report: (node: string, signal: AbortSignal) => Promise<void>;
  /** Has a pod looked at again. */
  readonly wakePod: (key: string) => void;
}

/** How often a kubelet looks whether it has to evict: at most one pod each time. */
const EVICTION_INTERVAL_MS = 10_000;
const PRESSURES: Readonly<Record<StarvedResource, NodeTrouble>> = {
  memory: 'memory-pressure',
  'ephemeral-storage': 'disk-pressure',
};

/** The memory of a node's troubles. */
interface NodeState {
  troubles: ReadonlySet<NodeTrouble>;
  readonly pressureSeenMs: Map<StarvedResource, number>;
  evictedAtMs?: number;
  shutdownSinceMs?: number;
  isOff: boolean;
  isGone: boolean;
  reportedProblems: string;
  /** The annotation with the node's amounts, as it was when they were reported last. */
  reportedAmounts?: string;
}

/** Pressure, evictions and shutdowns of the nodes. Nothing is done about a node that has no trouble and is asked nothing. */
export class NodeKeeper {
  private readonly states = new Map<string, NodeState>();
  private readonly verdicts = new Map<string, NodeVerdict>();
  /** Nodes with a pod that has said what it uses. */
  private readonly measured = new Set<string>();

  constructor(private readonly dependencies: NodeKeeperDependencies) {}

  /** A pod was seen: whether its node has to be looked at for it. */
  concerns(pod: ReadablePod): boolean {
    const { nodeName = '' } = pod.spec;
    if (saysUsageOfNode(pod)) this.measured.add(nodeName);
    return this.measured.has(nodeName) || this.troublesOf(nodeName).size > 0;
  }

  troublesOf(node: string): ReadonlySet<NodeTrouble> {
    return this.states.get(node)?.troubles ?? NO_TROUBLES;
  }

  /** Whether it has shut down, or was `gone` when its Node was deleted. */
  isOff(node: string): boolean {
    const { isGone = false, isOff = false } = this.states.get(node) ?? {};
    return isOff || isGone;
  }

  /** Why a pod has to end. */
  verdictOn(uid: string): NodeVerdict | undefined {
    return this.verdicts.get(uid);
  }

  /** Called when the pod was deleted. */
  forget(uid: string): void {
    this.verdicts.delete(uid);
  }

  /** Looks at a node, and does what is due. */
  async step(name: string, signal: AbortSignal): Promise<{ readonly wakeInMs?: number }> {
    const node = this.dependencies.nodes.get(name);
    if (!node) return {};
    const behaviours = nodeBehaviours(node);
    const state = this.stateOf(name);
    this.reportProblems(node, state);
    state.isGone = behaviours.has('gone');
    if (isSilent(node)) return {};
    const starved = this.starvation(node, state);
    state.troubles = this.troublesNow(behaviours, starved, name, state);
    if (!behaviours.has('shutdown')) this.powerOn(state);
    if (state.isOff) return {};
    await this.reportChanges(node, state, signal);
    if (behaviours.has('shutdown')) return this.shutDown(node, state);
    return this.relieve(node, state, behaviours, starved);
  }

  /**
   * Also compares the annotation with the last reported one. Amounts that it no longer requests do not show in a
   * comparison with the node.
   */
  private async reportChanges(node: ReadableNode, state: NodeState, signal: AbortSignal): Promise<void> {
    const amounts = node.metadata.annotations?.[CAPACITY_ANNOTATION] ?? '';
    const { reportedAmounts = amounts } = state;
    if (amounts !== reportedAmounts || !isAsReported(node, state.troubles))
      await this.dependencies.report(node.metadata.name, signal);
    state.reportedAmounts = amounts;
  }

  private stateOf(name: string): NodeState {
    const state = this.states.get(name) ?? {
      troubles: NO_TROUBLES,
      pressureSeenMs: new Map(),
      isOff: false,
      isGone: false,
      reportedProblems: '',
    };
    this.states.set(name, state);
    return state;
  }

  private reportProblems(node: ReadableNode, state: NodeState): void {
    const problems = nodeAnnotationProblems(node);
    const text = problems.join('; ');
    if (text !== '' && text !== state.reportedProblems)
      for (const message of problems)
        this.dependencies.events.record(node, { type: 'Warning', reason: 'InvalidAnnotation', message });
    state.reportedProblems = text;
  }

  private starvation(node: ReadableNode, state: NodeState): readonly Starvation[] {
    const { name } = node.metadata;
    const system = amountsAnnotation(node, SYSTEM_USAGE_ANNOTATION);
    if (!this.measured.has(name) && Object.keys(system).length === 0) return [];
    const { evictionHard } = this.dependencies.profileOf(name);
    const usage = { capacity: node.status?.capacity ?? {}, system, pods: this.podsOn(name), evictionHard };
    const starved = STARVED_RESOURCES.flatMap((resource) => decideStarvation(resource, usage) ?? []);
    for (const { resource } of starved) state.pressureSeenMs.set(resource, this.dependencies.clock.now());
    return starved;
  }

  private troublesNow(
    behaviours: ReadonlySet<NodeBehaviour>,
    starved: readonly Starvation[],
    name: string,
    { pressureSeenMs }: NodeState,
  ): ReadonlySet<NodeTrouble> {
    const { clock, profileOf } = this.dependencies;
    const asked = [...behaviours].filter(isTrouble);
    if (pressureSeenMs.size === 0 && asked.length === 0) return NO_TROUBLES;
    const { pressureTransitionMs } = profileOf(name);
    for (const [resource, seenMs] of pressureSeenMs) {
      const isThere = starved.some((one) => one.resource === resource);
      if (!isThere && clock.now() >= seenMs + pressureTransitionMs) pressureSeenMs.delete(resource);
    }
    return new Set([...asked, ...[...pressureSeenMs.keys()].map((resource) => PRESSURES[resource])]);
  }

  /** Evicts one pod for the resource that is lacking most urgently. */
  private relieve(
    node: ReadableNode,
    state: NodeState,
    behaviours: ReadonlySet<NodeBehaviour>,
    starved: readonly Starvation[],
  ): { readonly wakeInMs?: number } {
    const { clock, events, profileOf } = this.dependencies;
    const nowMs = clock.now();
    const resource = STARVED_RESOURCES.find(
      (each) => behaviours.has(PRESSURES[each]) || starved.some((one) => one.resource === each),
    );
    if (!resource) {
      const { pressureTransitionMs } = profileOf(node.metadata.name);
      const ends = [...state.pressureSeenMs.values()].map((seenMs) => seenMs + pressureTransitionMs - nowMs);
      return ends.length > 0 ? { wakeInMs: Math.max(Math.min(...ends), 0) } : {};
    }
    const nextMs = (state.evictedAtMs ?? -Infinity) + EVICTION_INTERVAL_MS;
    if (nowMs < nextMs) return { wakeInMs: nextMs - nowMs };
    const candidates = this.podsOn(node.metadata.name).filter(
      ({ metadata: { uid = '', ...metadata } }) =>
        metadata.deletionTimestamp === undefined && !this.verdicts.has(uid),
    );
    const victim = decideVictim(candidates, resource);
    // A pod that comes later is looked at when it comes.
    if (!victim) return {};
    state.evictedAtMs = nowMs;
    const message = `Attempting to reclaim ${resource}`;
    events.record(node, { type: 'Warning', reason: 'EvictionThresholdMet', message });
    const starvation = starved.find((one) => one.resource === resource);
    this.order(victim, evictionVerdict(victim, resource, starvation));
    return { wakeInMs: EVICTION_INTERVAL_MS };
  }

  private shutDown(node: ReadableNode, state: NodeState): { readonly wakeInMs?: number } {
    const { clock, events, profileOf } = this.dependencies;
    const nowMs = clock.now();
    const { name } = node.metadata;
    if (state.shutdownSinceMs === undefined) {
      state.shutdownSinceMs = nowMs;
      const message = 'Shutdown manager detected shutdown event';
      events.record(node, { type: 'Normal', reason: 'NodeShutdown', message });
    }
    const ordered = new Map([...this.verdicts].map(([uid, { orderedMs = 0 }]) => [uid, orderedMs]));
    const plan = decideShutdown(this.podsOn(name), state.shutdownSinceMs, profileOf(name), ordered, nowMs);
    for (const { pod, verdict } of plan.orders) this.order(pod, verdict);
    state.isOff = plan.isOver;
    return plan.wakeAtMs === undefined ? {} : { wakeInMs: plan.wakeAtMs - nowMs };
  }

  private powerOn(state: NodeState): void {
    state.shutdownSinceMs = undefined;
    state.isOff = false;
  }

  private order(pod: ReadablePod, verdict: NodeVerdict): void {
    this.verdicts.set(pod.metadata.uid ?? '', verdict);
    this.dependencies.wakePod(keyOf(pod.metadata));
  }

  private podsOn(node: string): readonly ReadablePod[] {
    const { newest, pods } = this.dependencies;
    return pods
      .list()
      .filter(({ spec }) => spec.nodeName === node)
      .map((pod) => newest.get(keyOf(pod.metadata)) ?? pod)
      .filter((pod) => !isPodFinished(pod));
  }
}

function isTrouble(behaviour: NodeBehaviour): behaviour is NodeTrouble {
  return behaviour !== 'silent' && behaviour !== 'gone' && behaviour !== 'network-unavailable';
}

/** Whether a Node asks something of its simulator that it did not before. */
export function isAskedAnew(old: ReadableNode, node: ReadableNode): boolean {
  const [before = {}, after = {}] = [old.metadata.annotations, node.metadata.annotations];
  return ASKED_BY.some((name) => before[name] !== after[name]);
}

const ASKED_BY = [CAPACITY_ANNOTATION, NODE_BEHAVIOUR_ANNOTATION, SYSTEM_USAGE_ANNOTATION];
