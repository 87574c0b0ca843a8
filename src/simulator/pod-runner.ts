import type { ApiClient } from '@rollkeeper/client/api-client';
import { isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { EventNote, EventRecorder } from '@rollkeeper/client/events';
import type { DeepReadonly, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { Pod, isPodFinished, requestsAllocated } from '@rollkeeper/machinery/kubernetes';
import { coveredByWriteOf } from '@rollkeeper/machinery/trace-context';
import { decideContainerEvents, missingSourceNotes } from './container-events.js';
import { isBackoffForgotten, isStartedAgain } from './decide-container.js';
import type { PodPlan } from './decide-pod-lifecycle.js';
import { decidePodLifecycle, isStarted } from './decide-pod-lifecycle.js';
import { isResizing } from './decide-resize.js';
import { lacksSomething } from './decide-sources.js';
import type { MissingSources } from './decide-sources.js';
import { decideStopEvents } from './decide-stop.js';
import type { NodeRooms } from './node-rooms.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import { profileOf } from './node-profile.js';
import type { NodeVerdict } from './node-verdict.js';
import { annotationProblems } from './pod-annotations.js';
import type { PodAddresses } from './pod-addresses.js';
import { nodeAddressOf } from './pod-addresses.js';
import { statusesOf } from './pod-conditions.js';
import { IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION } from './image-pull.js';
import type { CompiledNodeProfile } from './node-profile.js';

/** Precise facts about a pod that the API does not hold. Losing them costs less than a second, or a backoff. */
export interface PodMemory {
  podStartedMs?: number;
  terminatingSinceMs?: number;
  /** The missing sources that have been recorded as Events. */
  toldMissing?: string;
  /** Since when objects are missing that the pod refers to. */
  missingSinceMs?: number;
  /** By containerID. */
  readonly startedMs: Map<string, number>;
  /** By `pullKey`. */
  readonly pullStartedMs: Map<string, number>;
  /** By container. */
  readonly forgottenRestarts: Map<string, number>;
}

export function newPodMemory(): PodMemory {
  return { startedMs: new Map(), pullStartedMs: new Map(), forgottenRestarts: new Map() };
}

/** Remembers what begins with a status that is about to be written over `before`. */
export function noteStatus(
  memory: PodMemory,
  before: DeepReadonly<PodStatus> | undefined,
  { pulls = [], status }: { readonly status: DeepReadonly<PodStatus>; readonly pulls?: readonly string[] },
  nowMs: number,
): void {
  if (before?.startTime === undefined) memory.podStartedMs = nowMs;
  for (const key of pulls) if (!memory.pullStartedMs.has(key)) memory.pullStartedMs.set(key, nowMs);
  for (const { containerID, lastState, name, restartCount, state } of statusesOf(status)) {
    if (containerID !== undefined && state?.running && !memory.startedMs.has(containerID))
      memory.startedMs.set(containerID, nowMs);
    const { finishedAt, startedAt } = lastState?.terminated ?? {};
    if (!state?.running || !startedAt || !finishedAt) continue;
    // The restart after it was the first of a new row.
    if (isBackoffForgotten(Date.parse(finishedAt) - Date.parse(startedAt)))
      memory.forgottenRestarts.set(name, restartCount - 1);
  }
}

type ReadablePod = DeepReadonly<Pod>;

interface PodRunnerDependencies {
  readonly client: ApiClient;
  readonly addresses: PodAddresses;
  readonly rooms: NodeRooms;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly options: CompiledNodeSimulatorOptions;
  /** Why a node does not take a pod. @default it takes all */
  readonly admit?: (pod: ReadablePod) => NodeVerdict | undefined;
  /** Objects that a pod refers to and that do not exist. @default none */
  readonly missingOf?: (pod: ReadablePod) => MissingSources | undefined;
  /** Why a node ends a pod. @default it ends none */
  readonly verdictOn?: (uid: string) => NodeVerdict | undefined;
}

interface PodStep {
  /** The pod after a write; undefined if it no longer exists, or nothing was written. */
  readonly written?: ReadablePod;
  readonly wakeInMs?: number;
}

/** Simulates the kubelet of a pod's node, one step at a time. */
export class PodRunner {
  private readonly memories = new Map<string, PodMemory>();
  private readonly images: NodeImages;

  constructor(private readonly dependencies: PodRunnerDependencies) {
    this.images = new NodeImages(dependencies.options.profiles);
  }

  async step(pod: ReadablePod, nodeIndex: number, signal: AbortSignal): Promise<PodStep> {
    const { addresses, admit, clock, options, rooms, verdictOn } = this.dependencies;
    const uid = pod.metadata.uid ?? '';
    const nowMs = clock.now();
    const memory = this.memoryOf(uid);
    const profile = profileOf(nodeIndex, options.profiles);
    rooms.settle(uid);
    const stopsNow = pod.metadata.deletionTimestamp !== undefined && memory.terminatingSinceMs === undefined;
    if (stopsNow) memory.terminatingSinceMs = nowMs;
    const missing = this.missingOf(pod);
    const settlesInMs = notSeenFor(missing, memory, nowMs);
    if (settlesInMs > 0) return { wakeInMs: settlesInMs };
    const plan = decidePodLifecycle(pod, {
      nowMs,
      readyDelayMs: profile.readyAfterMs ?? options.readyDelayMs,
      terminationDelayMs: profile.stopsAfterMs ?? options.terminationDelayMs,
      hostIp: nodeAddressOf(nodeIndex),
      podIp: pod.status?.podIP ?? addresses.addressFor(uid, nodeIndex),
      room: () => rooms.of(pod),
      admit: () => admit?.(pod),
      verdict: verdictOn?.(uid),
      pullsAfterMs: profile.imagePullAfterMs,
      hasImage: (image) => this.images.has(nodeIndex, image),
      lacksImage: (image) => this.images.lacks(nodeIndex, image),
      missing,
      ...memory,
    });
    if (missing && plan.action !== 'delete') this.tellMissing(pod, missing, plan, memory);
    if (stopsNow && plan.action !== 'delete' && plan.wakeAtMs !== undefined)
      this.record(pod, decideStopEvents(pod));
    try {
      return await this.apply(
        pod,
        plan,
        { memory, nodeIndex, pullsAfterMs: profile.imagePullAfterMs },
        signal,
      );
    } catch (error) {
      // Deleted, or replaced by another pod of that name: its own event follows.
      if (isNotFound(error) || isConflict(error)) return {};
      throw error;
    }
  }

  /** Called when the pod was deleted. */
  forget(uid: string): void {
    this.memories.delete(uid);
    this.dependencies.rooms.settle(uid);
    this.dependencies.addresses.release(uid);
  }

  private async apply(
    pod: ReadablePod,
    plan: PodPlan,
    on: StepContext,
    signal: AbortSignal,
  ): Promise<PodStep> {
    const { client, clock, rooms } = this.dependencies;
    const { name, namespace, uid } = pod.metadata;
    if (plan.action === 'delete') {
      const options = { gracePeriodSeconds: 0, preconditions: { uid }, signal };
      // The end of a requested deletion, whose span is the pod's last one.
      await coveredByWriteOf(pod, () => client.delete(Pod, { namespace, name }, options));
      return {};
    }
    const wakeInMs = plan.wakeAtMs === undefined ? undefined : Math.max(plan.wakeAtMs - clock.now(), 0);
    if (plan.action === 'rest') return { wakeInMs };
    const { memory, nodeIndex, pullsAfterMs } = on;
    const begun = plan.pulls?.filter((key) => !memory.pullStartedMs.has(key));
    noteStatus(memory, pod.status, plan, clock.now());
    this.images.note(nodeIndex, pod, plan.status);
    if (isResizing(plan.status)) rooms.grant(pod, requestsAllocated({ ...pod, status: plan.status }));
    const written = await client.patch<Pod>(
      Pod,
      { namespace, name },
      // As in a kubelet, the patch names the UID: a new pod of the same name refuses it.
      { type: 'merge', body: { metadata: { uid }, status: plan.status } },
      { subresource: 'status', signal },
    );
    if (pod.status?.startTime === undefined) this.record(pod, annotationProblems(pod));
    const pulls = { begun, known: memory.pullStartedMs, pullsAfterMs };
    this.record(pod, decideContainerEvents(pod, plan.status, pulls));
    return { written, wakeInMs };
  }

  /** Only asked about pods with containers that are to be started, for the first time or again. */
  private missingOf(pod: ReadablePod): MissingSources | undefined {
    const { containers, initContainers = [], restartPolicy } = pod.spec;
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
    const settled =
      containerStatuses.filter(({ state }) => isSettled(state, restartPolicy)).length +
      initContainerStatuses.filter(({ state }) => isSettled(state, 'OnFailure')).length;
    const isOver = pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod);
    if (isOver || settled === containers.length + initContainers.length) return undefined;
    return this.dependencies.missingOf?.(pod);
  }

  /** Each problem is recorded once, and again when it has changed. */
  private tellMissing(pod: ReadablePod, missing: MissingSources, plan: PodPlan, memory: PodMemory): void {
    const notes = missingSourceNotes(missing, plan.action === 'write-status' ? plan.status : pod.status);
    const told = notes.map(({ message }) => message).join('\n');
    if (memory.toldMissing === told || isStarted(pod)) return;
    memory.toldMissing = told;
    this.record(pod, notes);
  }

  private record(pod: ReadablePod, notes: readonly EventNote[]): void {
    for (const note of notes) this.dependencies.events.record(pod, note);
  }

  private memoryOf(uid: string): PodMemory {
    const memory = this.memories.get(uid) ?? newPodMemory();
    this.memories.set(uid, memory);
    return memory;
  }
}

/** Objects that are created with a pod may reach the nodes a moment after it. */
const SEEN_WITHIN_MS = 50;

/** How long to wait until what is missing counts as missing, milliseconds; 0: no longer. */
function notSeenFor(missing: MissingSources | undefined, memory: PodMemory, nowMs: number): number {
  if (!missing || !lacksSomething(missing)) {
    memory.missingSinceMs = undefined;
    return 0;
  }
  memory.missingSinceMs ??= nowMs;
  return Math.max(0, memory.missingSinceMs + SEEN_WITHIN_MS - nowMs);
}

type ContainerState = NonNullable<NonNullable<ReadablePod['status']>['containerStatuses']>[number]['state'];

/** Whether a container runs, or has ended for good. */
function isSettled(state: ContainerState, restartPolicy: string | undefined): boolean {
  if (state?.running) return true;
  return state?.terminated !== undefined && !isStartedAgain(restartPolicy, state.terminated.exitCode);
}

interface StepContext {
  readonly memory: PodMemory;
  readonly nodeIndex: number;
  readonly pullsAfterMs: number;
}

/** Images that a node keeps. */
const MOST_KEPT = 500;

/**
 * The images that nodes have: those of their profiles, and those that were pulled. They are kept only if pulls take time or fail, or
 * if the images of a node are listed.
 */
class NodeImages {
  private readonly pulled = new Map<number, Set<string>>();

  constructor(private readonly profiles: readonly CompiledNodeProfile[]) {}

  has(node: number, image: string): boolean {
    if (this.pulled.get(node)?.has(image)) return true;
    return profileOf(node, this.profiles).images.includes(image);
  }

  /** Whether the node's profile lists its images, and this one has not come to it since. */
  lacks(node: number, image: string): boolean {
    return profileOf(node, this.profiles).images.length > 0 && !this.has(node, image);
  }

  /** A status about to be written shows which containers have their images. */
  note(
    node: number,
    { metadata: { annotations = {} } }: DeepReadonly<Pod>,
    status: DeepReadonly<PodStatus>,
  ): void {
    const { imagePullAfterMs, images: own } = profileOf(node, this.profiles);
    const matters = imagePullAfterMs > 0 || own.length > 0;
    if (!matters && !Object.keys(annotations).some(isAboutPulls)) return;
    const images = this.pulled.get(node) ?? new Set();
    this.pulled.set(node, images);
    for (const { containerID, image } of statusesOf(status))
      if (containerID !== undefined) keep(images, image);
  }
}

/** A kubelet removes the images that were used longest ago. */
function keep(images: Set<string>, image: string): void {
  images.delete(image);
  images.add(image);
  const [oldest] = images;
  if (images.size > MOST_KEPT && oldest !== undefined) images.delete(oldest);
}

function isAboutPulls(annotation: string): boolean {
  return [IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION].some((name) =>
    annotation.startsWith(name),
  );
}
