import type { ApiClient } from '../kit/api-client/index.js';
import { isNotFound } from '../kit/api-client/index.js';
import type { Clock } from '../base/clock/index.js';
import { toRfc3339 } from '../base/clock/index.js';
import type { EventRecorder } from '../kit/events/index.js';
import type { Lister } from '../kit/informer/index.js';
import type { DeepReadonly, KubernetesObject, Node, Pod } from '../base/kubernetes/index.js';
import { PODS, keyOf, sameJson } from '../base/kubernetes/index.js';
import { decideScheduling } from './decide-scheduling.js';
import type { NodeLoads } from './node-loads.js';
import { unschedulableConditions } from './pod-conditions.js';

type ReadablePod = DeepReadonly<Pod>;

export interface PodSchedulerDependencies {
  readonly client: ApiClient;
  readonly nodes: Pick<Lister<Node>, 'get'>;
  /** The nodes that are played here, in their order. */
  readonly nodeNames: readonly string[];
  readonly loads: NodeLoads;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** Plays the scheduler: puts a pending pod on one of our nodes, or says why none takes it. */
export class PodScheduler {
  /** Keys of pods that no node took. */
  readonly unschedulable = new Set<string>();

  constructor(private readonly dependencies: PodSchedulerDependencies) {}

  /** Returns the pod as it is once bound; undefined if it could not be placed. */
  async schedule(key: string, pod: ReadablePod, signal: AbortSignal): Promise<ReadablePod | undefined> {
    const { loads, nodes, nodeNames } = this.dependencies;
    const candidates = nodeNames.flatMap((name) => {
      const node = nodes.get(name);
      return node ? [{ node, load: loads.of(name) }] : [];
    });
    const decision = decideScheduling(pod, candidates);
    if ('unschedulable' in decision) {
      this.unschedulable.add(key);
      await this.explain(pod, decision.unschedulable, signal);
      return undefined;
    }
    this.unschedulable.delete(key);
    // Counted before the answer, so that pods placed meanwhile see it.
    loads.place(key, pod, decision.node);
    try {
      await this.bind(pod, decision.node, signal);
    } catch (error) {
      loads.remove(key);
      throw error;
    }
    return { ...pod, spec: { ...pod.spec, nodeName: decision.node } };
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
      this.unschedulable.delete(keyOf(pod.metadata));
    }
  }
}
