import type { ApiClient } from '@rollkeeper/client/api-client';
import { isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { PODS, requestsAllocated } from '@rollkeeper/machinery/kubernetes';
import { coveredByWriteOf } from '@rollkeeper/machinery/trace-context';
import { decideContainerEvents, statusesOf } from './container-events.js';
import type { PodPlan } from './decide-pod-lifecycle.js';
import { decidePodLifecycle } from './decide-pod-lifecycle.js';
import { isResizing } from './decide-resize.js';
import type { CompiledNodeSimulatorOptions } from './node-simulator.options.js';
import type { PodAddresses } from './pod-addresses.js';
import { nodeAddressOf } from './pod-addresses.js';
import type { NodeRooms } from './node-rooms.js';

type ReadablePod = DeepReadonly<Pod>;

export interface PodRunnerDependencies {
  readonly client: ApiClient;
  readonly addresses: PodAddresses;
  readonly rooms: NodeRooms;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly options: CompiledNodeSimulatorOptions;
}

/** Precise facts about a pod that the API does not hold. Losing them costs less than a second. */
interface PodMemory {
  readonly startedMs: Map<string, number>;
  terminatingSinceMs?: number;
}

export interface PodStep {
  /** The pod after a write; undefined if it is gone, or nothing was written. */
  readonly written?: ReadablePod;
  readonly wakeInMs?: number;
}

/** Simulates the kubelet of a pod's node, one step at a time. */
export class PodRunner {
  private readonly memories = new Map<string, PodMemory>();

  constructor(private readonly dependencies: PodRunnerDependencies) {}

  async step(pod: ReadablePod, nodeIndex: number, signal: AbortSignal): Promise<PodStep> {
    const { clock, addresses, options, rooms } = this.dependencies;
    const uid = pod.metadata.uid ?? '';
    const nowMs = clock.now();
    const memory = this.memoryOf(uid);
    rooms.settle(uid);
    if (pod.metadata.deletionTimestamp !== undefined) memory.terminatingSinceMs ??= nowMs;
    const plan = decidePodLifecycle(pod, {
      nowMs,
      readyDelayMs: options.readyDelayMs,
      terminationDelayMs: options.terminationDelayMs,
      hostIp: nodeAddressOf(nodeIndex),
      podIp: pod.status?.podIP ?? addresses.addressFor(uid, nodeIndex),
      room: () => rooms.of(pod),
      ...memory,
    });
    try {
      return await this.apply(pod, plan, memory, signal);
    } catch (error) {
      // Gone, or replaced by another pod of that name: its own event follows.
      if (isNotFound(error) || isConflict(error)) return {};
      throw error;
    }
  }

  /** The pod is gone. */
  forget(uid: string): void {
    this.memories.delete(uid);
    this.dependencies.rooms.settle(uid);
    this.dependencies.addresses.release(uid);
  }

  private async apply(
    pod: ReadablePod,
    plan: PodPlan,
    memory: PodMemory,
    signal: AbortSignal,
  ): Promise<PodStep> {
    const { client, clock, rooms } = this.dependencies;
    const { name, namespace, uid } = pod.metadata;
    if (plan.action === 'delete') {
      const options = { gracePeriodSeconds: 0, preconditions: { uid }, signal };
      // The end of a requested deletion, whose span is the pod's last one.
      await coveredByWriteOf(pod, () => client.delete(PODS, { namespace, name }, options));
      return {};
    }
    const wakeInMs = plan.wakeAtMs === undefined ? undefined : Math.max(plan.wakeAtMs - clock.now(), 0);
    if (plan.action === 'rest') return { wakeInMs };
    this.noteStarts(plan.status, memory);
    if (isResizing(plan.status)) rooms.grant(pod, requestsAllocated({ ...pod, status: plan.status }));
    const written = await client.patch<Pod>(
      PODS,
      { namespace, name },
      // As in a kubelet, the patch names the UID: a new pod of the same name refuses it.
      { type: 'merge', body: { metadata: { uid }, status: plan.status } },
      { subresource: 'status', signal },
    );
    for (const note of decideContainerEvents(pod, plan.status)) this.dependencies.events.record(pod, note);
    return { written, wakeInMs };
  }

  private noteStarts(status: PodStatus, memory: PodMemory): void {
    for (const { containerID, state } of statusesOf(status)) {
      if (containerID === undefined || !state?.running || memory.startedMs.has(containerID)) continue;
      memory.startedMs.set(containerID, this.dependencies.clock.now());
    }
  }

  private memoryOf(uid: string): PodMemory {
    const memory = this.memories.get(uid) ?? { startedMs: new Map<string, number>() };
    this.memories.set(uid, memory);
    return memory;
  }
}
