import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { EventNote, EventRecorder } from '@rollkeeper/client/events';
import type { Lister } from '@rollkeeper/client/informer';
import type { DeepReadonly, KubernetesObject, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { PODS, keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Candidate, SchedulingDecision } from './decide-scheduling.js';
import { decideScheduling, refusalBy } from './decide-scheduling.js';
import type { StorageView, VolumeNeeds } from './decide-volumes.js';
import { planVolumes, volumeNeedsOf, volumeObstacleOn } from './decide-volumes.js';
import type { NodeLoads } from './node-loads.js';
import { unschedulableConditions } from './pod-conditions.js';
import { startBinding } from './pod-volumes.js';

type ReadablePod = DeepReadonly<Pod>;

export interface PodSchedulerDependencies {
  readonly client: ApiClient;
  readonly nodes: Pick<Lister<Node>, 'get'>;
  /** The simulated nodes, in order. */
  readonly nodeNames: readonly string[];
  readonly loads: NodeLoads;
  readonly storage: StorageView;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** In kube-scheduler's words. */
function scheduledNote({ metadata }: ReadablePod, node: string): EventNote {
  const message = `Successfully assigned ${metadata.namespace}/${metadata.name} to ${node}`;
  return { type: 'Normal', reason: 'Scheduled', message };
}

/** Simulates the scheduler: binds a pending pod to one of our nodes, or reports why no node accepts it. */
export class PodScheduler {
  /** Keys of unschedulable pods, and of those waiting for volumes. */
  readonly waiting = new Set<string>();
  /** The chosen node by the key of a pod whose volumes are being provisioned. */
  private readonly chosen = new Map<string, string>();

  constructor(private readonly dependencies: PodSchedulerDependencies) {}

  /** Returns the bound pod; undefined if it could not be scheduled, or not yet. */
  async schedule(key: string, pod: ReadablePod, signal: AbortSignal): Promise<ReadablePod | undefined> {
    const { client, loads, nodes, storage } = this.dependencies;
    const needs = volumeNeedsOf(pod, storage);
    const decision = this.decide(key, pod, needs);
    if ('unschedulable' in decision) {
      this.waiting.add(key);
      await this.explain(pod, decision.unschedulable, signal);
      return undefined;
    }
    const { node } = decision;
    const chosen = nodes.get(node);
    if ('delayed' in needs && needs.delayed.length > 0 && chosen) {
      this.waiting.add(key);
      this.chosen.set(key, node);
      await startBinding(client, planVolumes(chosen, needs.delayed, storage) ?? [], node, signal);
      return undefined;
    }
    this.forget(key);
    // Counted before the answer, so that pods scheduled in the meantime see it.
    loads.place(key, pod, node);
    try {
      await this.bind(pod, node, signal);
    } catch (error) {
      loads.remove(key);
      throw error;
    }
    this.dependencies.events.record(pod, scheduledNote(pod, node));
    return { ...pod, spec: { ...pod.spec, nodeName: node } };
  }

  /** The pod is gone, or bound. */
  forget(key: string): void {
    this.waiting.delete(key);
    this.chosen.delete(key);
  }

  private decide(
    key: string,
    pod: ReadablePod,
    needs: VolumeNeeds | { readonly unschedulable: string },
  ): SchedulingDecision {
    const { loads, nodeNames, nodes, storage } = this.dependencies;
    const candidates = nodeNames.flatMap((name): Candidate[] => {
      const node = nodes.get(name);
      return node ? [{ node, load: loads.of(name), siblings: loads.siblingsOf(pod, name) }] : [];
    });
    if ('unschedulable' in needs) return refusalBy(candidates, needs.unschedulable);
    return decideScheduling(pod, candidates, {
      preferred: this.chosen.get(key),
      volumeObstacleOn: (node) => volumeObstacleOn(node, needs, storage),
    });
  }

  private async bind(pod: ReadablePod, node: string, signal: AbortSignal): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const binding: KubernetesObject & { target: object } = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    await this.dependencies.client.create(PODS, binding, { subresource: 'binding', signal });
  }

  private async explain(pod: ReadablePod, message: string, signal: AbortSignal): Promise<void> {
    const { client, clock, events } = this.dependencies;
    const conditions = unschedulableConditions(pod, message, toRfc3339(clock.now()));
    if (sameJson(conditions, pod.status?.conditions)) return;
    events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
    const { name, namespace, uid } = pod.metadata;
    const body = { metadata: { uid }, status: { phase: 'Pending', conditions } };
    try {
      await client.patch(
        PODS,
        { namespace, name },
        { type: 'merge', body },
        { subresource: 'status', signal },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.forget(keyOf(pod.metadata));
    }
  }
}
