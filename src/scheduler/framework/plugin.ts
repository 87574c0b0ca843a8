import type { RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ClusterEventWithHint } from './cluster-event.js';
import type { ClusterView } from './cluster-view.js';
import type { CompileDeviceSelector } from './device-selector.js';
import type { NodeInfo, PodInfo, ReadablePod, Snapshot } from './node-info.js';
import type { Status } from './status.js';

/** Highest score that a plug-in gives, after its own normalising and before its weight. */
export const MAX_NODE_SCORE = 100;

/** The part of an attempt that every extension point gets. Pure plug-ins read nothing else. */
export interface SchedulingContext {
  readonly pod: PodInfo;
  /** All nodes as they were when the attempt began; for a what-if of preemption as they would be. */
  readonly snapshot: Snapshot;
  readonly view: ClusterView;
}

/** The verdict of a plug-in on a pod. Undefined: the pod may proceed. */
export type Verdict = Status | undefined;

export interface PreFilterResult<State> {
  /** A refusal of the pod as a whole, or `SKIP`. */
  readonly status?: Status;
  /** Handed to this plug-in's other points. */
  readonly state?: State;
  /** The only nodes that come into question. @default all */
  readonly nodeNames?: ReadonlySet<string>;
}

/**
 * A scheduler plug-in: any of kube-scheduler's extension points, by its names. Points up to `normalizeScores` are synchronous and
 * pure: they are called for what-ifs too. Those from `reserve` on may do I/O.
 *
 * `State` is what the plug-in computed of the pod in `preFilter`, and hands to itself. It is never changed in place: `withPod` and
 * `withoutPod` answer another one, so that a what-if costs no copy.
 */
export interface SchedulerPlugin<State = unknown, ScoreState = unknown> {
  /** As in `KubeSchedulerConfiguration`. */
  readonly name: string;

  /** Changes that may help a pod which this plug-in refused. @default any change */
  readonly eventsToRegister?: readonly ClusterEventWithHint[];

  /** Keeps a pod out of the active queue, without an attempt. */
  preEnqueue?(pod: ReadablePod, view: ClusterView): Verdict;

  /** The order of the active queue: true if `one` goes before `other`. One plug-in per scheduler has it. */
  less?(one: QueuedPod, other: QueuedPod): boolean;

  /** Once per attempt, before any node. @default no state, all nodes */
  preFilter?(context: SchedulingContext): PreFilterResult<State>;
  /** The state as it is with one more pod on the node. Needed where the state depends on other pods. */
  withPod?(state: State, added: PodInfo, node: NodeInfo, context: SchedulingContext): State;
  /** The state as it is with one pod less on the node. */
  withoutPod?(state: State, removed: PodInfo, node: NodeInfo, context: SchedulingContext): State;
  /** Whether the pod may run on the node. */
  filter?(node: NodeInfo, context: SchedulingContext, state: State): Verdict;

  /** When no node was feasible: what can be done about it. */
  postFilter?(context: PostFilterContext, state: State | undefined): PostFilterResult;

  /** Once, when several nodes are feasible. */
  preScore?(
    context: SchedulingContext,
    feasible: readonly NodeInfo[],
    state: State | undefined,
  ): { readonly status?: Status; readonly state?: ScoreState };
  /** How well the node suits the pod; any integer where `normalizeScores` follows, else 0 to 100. */
  score?(node: NodeInfo, context: SchedulingContext, state: ScoreState): number;
  /**
   * Brings the raw scores into 0 to 100.
   * @param raw one for each of `feasible`, in its order; so is what is returned
   */
  normalizeScores?(
    raw: readonly number[],
    feasible: readonly NodeInfo[],
    context: SchedulingContext,
    state: ScoreState,
  ): readonly number[];

  /** Takes something for the pod on the node. What it throws, or refuses, undoes all reservations. */
  reserve?(context: SchedulingContext, node: string, signal: AbortSignal): Promise<Verdict>;
  /** Undoes `reserve`; is called after failures of any later point, also where `reserve` was not reached. Must not throw. */
  unreserve?(context: SchedulingContext, node: string): void;
  /** Approves, refuses, or delays the binding (`Wait`, for at most `timeoutMs`). */
  permit?(
    context: SchedulingContext,
    node: string,
  ): { readonly status?: Status; readonly timeoutMs?: number } | undefined;
  /** Does the work that the pod needs before it is bound: volumes, claims. */
  preBind?(context: SchedulingContext, node: string, signal: AbortSignal): Promise<Verdict>;
  /** Binds the pod. `SKIP` leaves it to the next plug-in. */
  bind?(context: SchedulingContext, node: string, signal: AbortSignal): Promise<Verdict>;
  postBind?(context: SchedulingContext, node: string): void;
}

/** A pod of the queue. */
export interface QueuedPod {
  readonly pod: ReadablePod;
  /** Milliseconds since the epoch: when it came into the active queue's order. */
  readonly since: number;
  readonly attempts: number;
}

/** The further arguments of PostFilter. */
export interface PostFilterContext extends SchedulingContext {
  /** Why each node was refused, by its name. Nodes that PreFilter ruled out are among them. */
  readonly refusals: ReadonlyMap<string, Status>;
  /** Set where PreFilter refused the pod as a whole: then no filter was asked. */
  readonly preFilterRefusal?: Status;
  readonly random: RandomSource;
  /** The node as it could be, with the filters of the profile. */
  trial(node: NodeInfo): NodeTrial;
}

/** A what-if: a copy of a node from which pods are taken, and on which they are put back. */
export interface NodeTrial {
  /** As it is with what was taken and put back. */
  readonly node: NodeInfo;
  remove(pod: PodInfo): void;
  add(pod: PodInfo): void;
  /** Whether the pod of the attempt may run there, nominated pods considered. */
  filter(): Verdict;
}

export interface PostFilterResult {
  /**
   * None: the pod will have a place, and no further plug-in is asked. `Unschedulable`: this plug-in cannot help; the reasons go into
   * the message, and the next one is asked. Any other refusal or an error ends PostFilter with its reasons alone.
   */
  readonly status?: Status;
  /**
   * The pod's new nomination: a node that will have room once the victims no longer exist, or none.
   * @default it stays
   */
  readonly nomination?: { readonly node: string | undefined };
  readonly victims?: readonly PodInfo[];
  readonly deallocate?: FreedClaim;
}

/** A ResourceClaim whose devices must be released. */
export interface FreedClaim {
  readonly namespace: string;
  readonly name: string;
  /** By deleting it: it was made for one attempt alone. */
  readonly isDeleted: boolean;
}

/** A pod whose binding a plug-in delays. */
export interface WaitingPod {
  readonly pod: ReadablePod;
  readonly node: string;
  /** The plug-ins that have not allowed it yet. */
  readonly pendingPlugins: readonly string[];
  /** The pod is bound once all plug-ins that delayed it have allowed it. */
  allow(plugin: string): void;
  /** The pod is not bound, and is retried. */
  reject(plugin: string, reason: string): void;
}

/** The pods that {@link SchedulerPlugin.permit} has delayed. */
export interface WaitingPods {
  get(uid: string): WaitingPod | undefined;
  list(): readonly WaitingPod[];
}

/** The parts from which a plug-in is built. */
export interface PluginHandle {
  readonly view: ClusterView;
  readonly log: Logger;
  /** Epoch milliseconds, for what is judged by its age. @default nothing is ever overdue */
  readonly now?: () => number;
  /** Absent where nothing is bound: in what-ifs and explanations. */
  readonly waitingPods?: WaitingPods;
  /** @default none: a pod whose devices are selected by expressions fails */
  readonly compileDeviceSelector?: CompileDeviceSelector;
}

/** Builds a plug-in from its arguments (`pluginConfig` of `KubeSchedulerConfiguration`). @throws InvalidOptionError naming the field */
export type PluginFactory = (args: unknown, handle: PluginHandle) => SchedulerPlugin;
