import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import type { SchedulerCache } from '../cache/scheduler-cache.js';
import type { Refused } from '../decide/decision.js';
import { agreedVictims } from '../extender/ask-extenders.js';
import type { HttpExtender } from '../extender/http-extender.js';
import type { PodInfo } from '../framework/node-info.js';
import type { SchedulerPlugin } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { unresolvable } from '../framework/status.js';
import { queueKeyOf } from '../queue/queued-pod.js';
import type { SchedulingQueue } from '../queue/scheduling-queue.js';
import type { Preemption } from './evict-victims.js';
import { evictVictims } from './evict-victims.js';
import type { SchedulerMetrics } from './metrics.js';
import type { PodNews, PodStatusWriter } from './pod-status-writer.js';
import type { PermitQueue } from './waiting-pods.js';

interface PreemptionsParts {
  readonly client: ApiClient;
  readonly cache: SchedulerCache;
  readonly queue: () => SchedulingQueue;
  readonly extenders: readonly HttpExtender[];
  readonly statuses: PodStatusWriter;
  readonly permitQueue: PermitQueue;
  readonly eventsOf: (schedulerName: string) => EventRecorder;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Carries out the decision of PostFilter, beside the attempts. The pod is not retried before the eviction of its
 * victims was requested.
 */
export class Preemptions {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly parts: PreemptionsParts) {}

  /** Keeps a pod out of the queue while its preemption is under way. */
  readonly gate: SchedulerPlugin = {
    name: 'DefaultPreemption',
    preEnqueue: (pod) =>
      this.underWay.has(queueKeyOf(pod))
        ? unresolvable('waiting for the preemption for this pod to be finished')
        : undefined,
  };

  /** @returns what becomes of the pod's nomination; undefined if it stays */
  async begin(
    { pod, profile }: { readonly pod: PodInfo; readonly profile: Profile },
    { nomination, victims }: Refused,
    signal: AbortSignal,
  ): Promise<Pick<PodNews, 'nomination'>> {
    const { cache, extenders, logger, metrics } = this.parts;
    if (!nomination) return {};
    const { node } = nomination;
    const agreed =
      node === undefined || victims.length === 0
        ? victims
        : await agreedVictims(extenders, pod, node, victims, logger, signal);
    if (node === undefined || !agreed) {
      cache.clearNomination(pod.key);
      return { nomination: { node: undefined } };
    }
    cache.nominate(pod, node);
    this.supersede(pod, node, signal);
    if (agreed.length > 0) {
      metrics.preemption(agreed.length);
      this.start({ pod, node, victims: agreed, schedulerName: profile.schedulerName }, signal);
    }
    return { nomination };
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay.values());
  }

  private start(preemption: Preemption, signal: AbortSignal): void {
    const { eventsOf, logger, permitQueue } = this.parts;
    const key = queueKeyOf(preemption.pod.pod);
    const parts = {
      ...this.parts,
      waitingPods: permitQueue,
      events: eventsOf(preemption.schedulerName),
    };
    const run = async (): Promise<void> => {
      let hasFailed = false;
      try {
        await evictVictims(parts, preemption, signal);
      } catch (error) {
        hasFailed = true;
        const facts = { pod: preemption.pod.key, node: preemption.node, error: errorMessage(error) };
        if (!signal.aborted) logger.warn('a preemption failed; the pod is tried again', facts);
      }
      this.underWay.delete(key);
      this.letGo(preemption, hasFailed);
    };
    // Begins in a later turn, so that the pod is back in the queue before its victims go.
    this.underWay.set(key, Promise.resolve().then(run));
  }

  /**
   * The victims may have been deleted while the pod was kept out of the queue. After a failure, nothing else would wake
   * it.
   */
  private letGo({ pod }: Preemption, hasFailed: boolean): void {
    const queue = this.parts.queue();
    const waiting = queue.find(queueKeyOf(pod.pod));
    const isHeld = waiting?.entry.gatedBy === this.gate.name;
    if (waiting && (hasFailed || isHeld)) queue.activateNow(pod.pod);
  }

  /** Pods of lower priority do not wait for this room any more. */
  private supersede(pod: PodInfo, node: string, signal: AbortSignal): void {
    const { cache, queue, statuses } = this.parts;
    const lower = cache.nominated.on(node).filter(({ priority }) => priority < pod.priority);
    for (const other of lower) {
      cache.clearNomination(other.key);
      statuses.write(other.pod, { nomination: { node: undefined } }, signal);
      queue().activateNow(other.pod);
    }
  }
}
