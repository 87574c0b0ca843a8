import type { Tracer } from '@opentelemetry/api';
import { SpanStatusCode, context as contexts, trace } from '@opentelemetry/api';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { isTerminating, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { traceOf } from '@rollkeeper/machinery/trace-context';
import type { EventRecorder } from '@rollkeeper/runtime';
import { isConflict, isNotFound } from '@rollkeeper/runtime';
import type { SchedulerCache } from '../cache/scheduler-cache.js';
import { chooseNode, findNodes } from '../decide/decide-pod.js';
import type { Chosen, Decision, Refused } from '../decide/decision.js';
import { refusalMessage } from '../decide/message.js';
import type { PointTimer } from '../decide/point-timer.js';
import { askExtenders } from '../extender/ask-extenders.js';
import type { HttpExtender } from '../extender/http-extender.js';
import type { ClusterView } from '../framework/cluster-view.js';
import type { PodInfo, ReadablePod } from '../framework/node-info.js';
import type { FreedClaim } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { Status } from '../framework/status.js';
import { podInfoOf } from '../node/pod-info.js';
import { changeOf } from '../queue/cluster-change.js';
import type { FailedAttempt, QueueEntry } from '../queue/queued-pod.js';
import type { SchedulingQueue } from '../queue/scheduling-queue.js';
import type { ChosenNode } from './bind-pod.js';
import { PointError, askPermits, bindPod, reserveNode, unreserveNode } from './bind-pod.js';
import type { SchedulerMetrics } from './metrics.js';
import type { PodNews, PodStatusWriter } from './pod-status-writer.js';
import { nameOf } from './pod-status-writer.js';
import type { Preemptions } from './preemptions.js';
import type { PermitQueue } from './waiting-pods.js';

interface PodAttemptsParts {
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly view: ClusterView;
  readonly profileOf: (pod: ReadablePod) => Profile | undefined;
  readonly extenders: readonly HttpExtender[];
  readonly permitQueue: PermitQueue;
  readonly preemptions: Preemptions;
  /** Gives the devices of a resource claim back. */
  readonly freeDevices: (claim: FreedClaim, signal: AbortSignal) => Promise<void>;
  readonly statuses: PodStatusWriter;
  /** Records as the scheduler of that name. */
  readonly eventsOf: (schedulerName: string) => EventRecorder;
  readonly metrics: SchedulerMetrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

interface Attempt {
  readonly entry: QueueEntry;
  readonly pod: PodInfo;
  readonly profile: Profile;
  readonly startMs: number;
  readonly signal: AbortSignal;
}

/** As kube-scheduler cuts the notes of events. */
const LONGEST_NOTE = 1024;

/** Attempts run one after the other. What follows a decision runs concurrently with the next attempt. */
export class PodAttempts {
  private readonly bindings = new Set<Promise<void>>();
  private startIndex = 0;

  constructor(private readonly parts: PodAttemptsParts) {}

  /** Resolves when the decision is made; its binding continues. Never rejects. */
  async attempt(entry: QueueEntry, signal: AbortSignal): Promise<void> {
    const { cache, clock, queue } = this.parts;
    const profile = this.parts.profileOf(entry.pod);
    const pod = podInfoOf(this.withNomination(entry.pod));
    if (!profile || this.isSkipped(entry.pod, profile) || cache.isAssumed(pod.key)) {
      queue.done(entry.key);
      return;
    }
    const attempt: Attempt = { entry, pod, profile, startMs: clock.monotonicNow(), signal };
    const span = this.startSpan(attempt);
    await contexts.with(trace.setSpan(contexts.active(), span), async () => {
      const end = (error?: unknown): void => {
        if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
        span.end(clock.now());
      };
      try {
        const decision = await this.decide(attempt);
        span.setAttribute('rollkeeper.scheduler.decision', decision.kind);
        if (decision.kind === 'chosen') {
          span.setAttribute('k8s.node.name', decision.node.name);
          const binding = await this.place(attempt, decision);
          if (binding) {
            this.follow(binding.done.then(() => end(), end));
            return;
          }
        } else if (decision.kind === 'refused') await this.refuse(attempt, decision);
        else throw new Error(decision.message);
        end();
      } catch (error) {
        this.fail(attempt, error);
        end(error);
      }
    });
  }

  /** Resolves when no binding is under way. */
  async idle(): Promise<void> {
    while (this.bindings.size > 0) await Promise.all(this.bindings);
  }

  private follow(binding: Promise<void>): void {
    this.bindings.add(binding);
    void binding.finally(() => this.bindings.delete(binding));
  }

  /** The pod with the nomination that we made: the API may not show it yet. */
  private withNomination(pod: ReadablePod): ReadablePod {
    const node = this.parts.cache.nominationOf(keyOf(pod.metadata));
    const { nominatedNodeName, ...status } = pod.status ?? {};
    if (node === nominatedNodeName) return pod;
    return { ...pod, status: { ...status, ...(node !== undefined && { nominatedNodeName: node }) } };
  }

  private startSpan({ entry, pod, profile }: Attempt) {
    const { clock, tracer } = this.parts;
    // Continues the trace in which the pod was created.
    const { links, parent } = traceOf(pod.pod, clock.now());
    const attributes = {
      'k8s.object.key': pod.key,
      'rollkeeper.scheduler.profile': profile.schedulerName,
      'rollkeeper.scheduler.attempt': entry.attempts,
      'rollkeeper.scheduler.queued_ms': clock.monotonicNow() - entry.enteredMs,
    };
    return tracer.startSpan(`schedule ${pod.key}`, { links, attributes, startTime: clock.now() }, parent);
  }

  private isSkipped(pod: ReadablePod, { schedulerName }: Profile): boolean {
    if (!isTerminating(pod)) return false;
    const message = `skip schedule deleting pod: ${nameOf(pod)}`;
    this.parts
      .eventsOf(schedulerName)
      .record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message });
    return true;
  }

  private async decide({ pod, profile, signal, startMs }: Attempt): Promise<Decision> {
    const { cache, extenders, logger, random, view } = this.parts;
    const { nominated } = cache;
    const { startIndex } = this;
    const snapshot = cache.snapshot();
    const timer = this.timerOf(profile);
    const found = findNodes({ pod, snapshot, nominated, view, profile, random, startIndex, timer });
    if (found.kind !== 'found') return this.decided(found, startMs);
    if (extenders.length === 0) return this.decided(chooseNode(found), startMs);
    const word = await askExtenders(extenders, pod, found.nodes, logger, signal);
    return this.decided(chooseNode(found, word), startMs);
  }

  private decided(decision: Decision, startMs: number): Decision {
    const { clock, metrics } = this.parts;
    metrics.decided(clock.monotonicNow() - startMs);
    if (decision.kind !== 'failed') this.startIndex = decision.nextStartIndex;
    return decision;
  }

  /** Puts the pod on the node in the cache and begins to bind it. @returns undefined if a plug-in refused it before */
  private async place(
    attempt: Attempt,
    { node }: Chosen,
  ): Promise<{ readonly done: Promise<void> } | undefined> {
    const { cache, view } = this.parts;
    const { pod, profile, signal } = attempt;
    const context = { pod, snapshot: cache.snapshot(), view };
    const chosen: ChosenNode = { context, profile, node: node.name, timer: this.timerOf(profile) };
    cache.assume(pod, node.name);
    try {
      const refusal = await reserveNode(chosen, signal);
      const permits = refusal ? { refusal, delays: [] } : askPermits(chosen);
      if (!permits.refusal) return { done: this.bind(attempt, chosen, permits) };
      this.undo(chosen);
      this.refuseBy(attempt, permits.refusal);
      return undefined;
    } catch (error) {
      this.undo(chosen);
      throw error;
    }
  }

  private async bind(
    attempt: Attempt,
    chosen: ChosenNode,
    permits: ReturnType<typeof askPermits>,
  ): Promise<void> {
    const { cache, clock, metrics, queue } = this.parts;
    const { entry, pod, profile, signal, startMs } = attempt;
    try {
      const refusal = await bindPod(chosen, permits, this.parts, signal);
      if (refusal) {
        this.undo(chosen);
        this.refuseBy(attempt, refusal);
        return;
      }
    } catch (error) {
      this.undo(chosen);
      this.fail(attempt, error);
      throw error;
    }
    cache.confirm(pod.key);
    queue.done(entry.key);
    this.parts.statuses.forget(pod.pod);
    const message = `Successfully assigned ${nameOf(pod.pod)} to ${chosen.node}`;
    this.eventsFor(attempt).record(pod.pod, {
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      message,
    });
    const nowMs = clock.monotonicNow();
    metrics.attempt('scheduled', profile.schedulerName, nowMs - startMs);
    metrics.scheduled(entry.attempts, nowMs - entry.createdMs);
  }

  /** The pod is not on the node after all: others may take its place. */
  private undo(chosen: ChosenNode): void {
    const { cache, queue } = this.parts;
    const { pod } = chosen.context.pod;
    unreserveNode(chosen);
    cache.forget(chosen.context.pod.key);
    const placed: ReadablePod = { ...pod, spec: { ...pod.spec, nodeName: chosen.node } };
    queue.move(changeOf('pods', placed, undefined));
  }

  private async refuse(attempt: Attempt, decision: Refused): Promise<void> {
    if (decision.deallocate) await this.parts.freeDevices(decision.deallocate, attempt.signal);
    const { nomination } = await this.parts.preemptions.begin(attempt, decision, attempt.signal);
    const { message, pendingPlugins, unschedulablePlugins } = decision;
    this.putBack(attempt, {
      failed: { refusedBy: unschedulablePlugins, pendingOn: pendingPlugins },
      reason: 'Unschedulable',
      message,
      ...(nomination && { nomination }),
    });
  }

  /** A plug-in refused the pod on the node that was chosen. */
  private refuseBy(attempt: Attempt, refusal: Status): void {
    const { code, plugin = '' } = refusal;
    const names = new Set([plugin]);
    const none = new Set<string>();
    this.putBack(attempt, {
      failed:
        code === 'Pending' ? { refusedBy: none, pendingOn: names } : { refusedBy: names, pendingOn: none },
      reason: 'Unschedulable',
      message: refusalMessage({ nodes: 1, refusals: [refusal] }),
    });
  }

  private fail(attempt: Attempt, error: unknown): void {
    const { logger, queue } = this.parts;
    const { entry, pod, signal } = attempt;
    // A stop is no failure of the pod. If the pod was bound or deleted, its own event follows.
    if (signal.aborted || isOver(error)) {
      logger.debug('an attempt to schedule a pod is over', { pod: pod.key, error: errorMessage(error) });
      queue.putBack(entry, { error: true });
      return;
    }
    logger.warn('an attempt to schedule a pod failed', { pod: pod.key, error: errorMessage(error) });
    this.putBack(attempt, {
      failed: { error: true },
      reason: 'SchedulerError',
      message: errorMessage(error),
    });
  }

  private putBack(
    attempt: Attempt,
    outcome: {
      readonly failed: FailedAttempt;
      readonly reason: NonNullable<PodNews['refusal']>['reason'];
      readonly message: string;
      readonly nomination?: PodNews['nomination'];
    },
  ): void {
    const { clock, metrics, queue, statuses } = this.parts;
    const { entry, pod, profile, signal, startMs } = attempt;
    const { failed, message, nomination, reason } = outcome;
    queue.putBack(entry, failed);
    const result = failed.error ? 'error' : 'unschedulable';
    metrics.attempt(result, profile.schedulerName, clock.monotonicNow() - startMs);
    const note = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling' } as const;
    this.eventsFor(attempt).record(pod.pod, { ...note, message: cut(message) });
    statuses.write(pod.pod, { refusal: { reason, message }, ...(nomination && { nomination }) }, signal);
  }

  private timerOf({ schedulerName }: Profile): PointTimer {
    const { clock, metrics } = this.parts;
    return {
      now: () => clock.monotonicNow(),
      note: (point, status, durationMs) => metrics.point(point, status, schedulerName, durationMs),
    };
  }

  private eventsFor({ profile }: Attempt): EventRecorder {
    return this.parts.eventsOf(profile.schedulerName);
  }
}

/** The API refused the binding: the pod was deleted, is being deleted, or was bound by another scheduler. */
function isOver(error: unknown): boolean {
  return (
    error instanceof PointError &&
    error.point === 'Bind' &&
    (isNotFound(error.cause) || isConflict(error.cause))
  );
}

function cut(message: string): string {
  const end = ' ...';
  return message.length <= LONGEST_NOTE ? message : `${message.slice(0, LONGEST_NOTE - end.length)}${end}`;
}
