import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ClusterView } from '../framework/cluster-view.js';
import type { ReadablePod } from '../framework/node-info.js';
import type { QueuedPod, SchedulerPlugin } from '../framework/plugin.js';
import type { ClusterChange } from './cluster-change.js';
import { ANY_CHANGE, podUpdateOf } from './cluster-change.js';
import type { HintsByPlugin, Requeue } from './decide-requeue.js';
import { decideRequeue } from './decide-requeue.js';
import { InFlightChanges } from './in-flight-changes.js';
import { KeyedHeap } from '@rollkeeper/machinery/keyed-heap';
import type { QueueName, RefusedPods, SchedulingQueueMetrics } from './queue-metrics.js';
import { noSchedulingQueueMetrics } from './queue-metrics.js';
import type { FailedAttempt, Instant, QueueEntry } from './queued-pod.js';
import { afterAttempt, newEntry, queueKeyOf } from './queued-pod.js';

/** The parts of a profile that the queue needs. */
export interface QueueProfile {
  /** Asked in order before a pod may be tried. */
  readonly preEnqueue: readonly SchedulerPlugin[];
  readonly hints: HintsByPlugin;
}

interface SchedulingQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly view: ClusterView;
  /** Whether `one` is tried before `other`. */
  readonly less: (one: QueuedPod, other: QueuedPod) => boolean;
  readonly profileOf: (pod: ReadablePod) => QueueProfile | undefined;
  /** @default 1000 */
  readonly initialBackoffMs?: number;
  /** @default 10000 */
  readonly maxBackoffMs?: number;
  /** After this time a refused pod is retried without any change. @default 300000 */
  readonly maxUnschedulableMs?: number;
  readonly metrics?: SchedulingQueueMetrics;
}

/** Pods that come out of backoff within one window are ordered by priority. */
const WINDOW_MS = 1000;
const FLUSH_EVERY_MS = 30_000;
const NOTHING: QueueProfile = { preEnqueue: [], hints: new Map() };
/** The event by which kube-scheduler names a failed attempt in its metric. */
const FAILURE = 'ScheduleAttemptFailure';

/**
 * The pods that need a node, as in kube-scheduler's `PriorityQueue`: those ready for an attempt (active), those held
 * back for a while after an attempt (backoff), and those that wait for a change that may help (unschedulable; gated if
 * they may not be tried at all).
 *
 * Guarantees: a pod is in one place only, or in an attempt; none is lost before {@link delete}. A change during an
 * attempt counts as if it came after it. A pod whose change may help is retried after its backoff.
 *
 * Every method is synchronous. {@link close} ends the timers.
 */
export class SchedulingQueue {
  private readonly active: KeyedHeap<QueueEntry>;
  /** After refusals: taken early while no other pod is ready. */
  private readonly refusedBackoff: KeyedHeap<QueueEntry>;
  /** After errors: never early. */
  private readonly failedBackoff: KeyedHeap<QueueEntry>;
  private readonly unschedulable = new Map<string, QueueEntry>();
  private readonly inFlight = new InFlightChanges();
  private readonly metrics: SchedulingQueueMetrics;
  private readonly backoffs: { readonly initialMs: number; readonly maxMs: number };
  private readonly maxUnschedulableMs: number;
  private takers: ((entry: QueueEntry | undefined) => void)[] = [];
  private backoffTimer: { readonly atMs: number; readonly handle: TimerHandle } | undefined;
  private flushTimer: TimerHandle | undefined;
  private isClosed = false;

  constructor(private readonly options: SchedulingQueueOptions) {
    const { initialBackoffMs = 1000, less, maxBackoffMs = 10_000, maxUnschedulableMs = 300_000 } = options;
    this.backoffs = { initialMs: initialBackoffMs, maxMs: maxBackoffMs };
    this.maxUnschedulableMs = maxUnschedulableMs;
    this.metrics = options.metrics ?? noSchedulingQueueMetrics;
    const soonest = (one: QueueEntry, other: QueueEntry): boolean => {
      const [a, b] = [windowEnd(one.backoffUntilMs), windowEnd(other.backoffUntilMs)];
      return a === b ? less(one, other) : a < b;
    };
    this.active = new KeyedHeap(keyOfEntry, less);
    this.refusedBackoff = new KeyedHeap(keyOfEntry, soonest);
    this.failedBackoff = new KeyedHeap(keyOfEntry, soonest);
  }

  /** A pod that needs a node. One that is here already is updated. */
  add(pod: ReadablePod): void {
    const key = queueKeyOf(pod);
    if (this.has(key)) this.update(this.podOf(key) ?? pod, pod);
    else this.activate(newEntry(pod, this.now()), 'UnscheduledPodAdd');
  }

  /** The pod has changed and still needs a node. */
  update(before: ReadablePod, after: ReadablePod): void {
    const key = queueKeyOf(after);
    const change = podUpdateOf(before, after);
    if (this.inFlight.has(key)) {
      this.inFlight.follow(key, after);
      this.inFlight.note(change);
      return;
    }
    const waiting = [this.active, this.refusedBackoff, this.failedBackoff].find((heap) => heap.get(key));
    const queued = waiting?.get(key);
    if (waiting && queued) {
      waiting.set({ ...queued, pod: after });
      return;
    }
    const refused = this.unschedulable.get(key);
    if (!refused) {
      this.activate(newEntry(after, this.now()), 'UnscheduledPodAdd');
      return;
    }
    const entry = { ...refused, pod: after };
    this.unschedulable.set(key, entry);
    this.wake(entry, change, 'UnscheduledPodUpdate');
  }

  /** The pod was deleted, or needs no node any more. */
  delete(pod: ReadablePod): void {
    const key = queueKeyOf(pod);
    this.inFlight.follow(key, undefined);
    this.remove(key);
  }

  /** Something happened that may help pods that wait. */
  move(change: ClusterChange): void {
    this.inFlight.note(change);
    for (const entry of [...this.unschedulable.values()]) this.wake(entry, change, nameOf(change));
  }

  /** Brings a pod to the active queue, out of any other. */
  activateNow(pod: ReadablePod): void {
    const entry = this.remove(queueKeyOf(pod));
    if (entry) this.activate(entry, 'ForceActivate');
  }

  /**
   * The next pod to be tried, as soon as there is one; undefined once the queue is closed, or the signal aborts. Its attempt is under
   * way until {@link done} or {@link putBack}.
   */
  pop(signal?: AbortSignal): Promise<QueueEntry | undefined> {
    if (this.isClosed || signal?.aborted) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<QueueEntry | undefined>();
    const leave = (): void => {
      this.takers = this.takers.filter((taker) => taker !== take);
      resolve(undefined);
    };
    const take = (entry: QueueEntry | undefined): void => {
      signal?.removeEventListener('abort', leave);
      resolve(entry);
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.takers.push(take);
    this.serve();
    return promise;
  }

  /** The attempt has succeeded, or the pod must not be retried. */
  done(key: string): void {
    this.inFlight.end(key);
  }

  /** The attempt came to nothing: the pod waits for what may help. */
  putBack(entry: QueueEntry, failed: FailedAttempt): void {
    const ended = this.inFlight.end(entry.key);
    if (!ended?.pod) return;
    const next = afterAttempt(entry, ended.pod, failed, this.now(), this.backoffs);
    if (failed.error) {
      this.holdBack(next, FAILURE);
      return;
    }
    const { hints } = this.profileOf(next.pod);
    const verdicts = new Set(ended.changes.map((change) => decideRequeue(next.pod, next, change, hints)));
    const verdict = (['at-once', 'after-backoff'] as const).find((each) => verdicts.has(each)) ?? 'skip';
    if (verdict === 'skip') this.park(next, FAILURE);
    else this.requeue(next, verdict, FAILURE);
  }

  has(key: string): boolean {
    return this.inFlight.has(key) || this.podOf(key) !== undefined;
  }

  /** How many pods are in each queue; those of attempts are in none. */
  counts(): Readonly<Record<QueueName, number>> {
    const gated = [...this.unschedulable.values()].filter(({ gatedBy }) => gatedBy !== undefined).length;
    return {
      active: this.active.size,
      backoff: this.refusedBackoff.size + this.failedBackoff.size,
      unschedulable: this.unschedulable.size - gated,
      gated,
    };
  }

  /** The pods that wait after a refusal, by plug-in. A pod that several plug-ins refused counts for each. */
  refused(): readonly RefusedPods[] {
    const counts = new Map<string, RefusedPods>();
    const entries = [...this.unschedulable.values(), ...this.refusedBackoff.values()];
    for (const { pod, refusedBy } of entries)
      for (const plugin of refusedBy) {
        const profile = pod.spec.schedulerName ?? 'default-scheduler';
        const key = `${profile} ${plugin}`;
        counts.set(key, { plugin, profile, count: (counts.get(key)?.count ?? 0) + 1 });
      }
    return [...counts.values()];
  }

  /** Attempts under way, those that are being bound included. */
  get attemptsUnderWay(): number {
    return this.inFlight.size;
  }

  /** The place of a pod and what it waits for; undefined if it is not here or in an attempt. */
  find(key: string): { readonly queue: QueueName; readonly entry: QueueEntry } | undefined {
    const active = this.active.get(key);
    if (active) return { queue: 'active', entry: active };
    const backoff = this.refusedBackoff.get(key) ?? this.failedBackoff.get(key);
    if (backoff) return { queue: 'backoff', entry: backoff };
    const entry = this.unschedulable.get(key);
    return entry && { queue: entry.gatedBy === undefined ? 'unschedulable' : 'gated', entry };
  }

  /** Ends the timers. Pending calls of {@link pop} resolve without a pod. */
  close(): void {
    this.isClosed = true;
    this.backoffTimer?.handle.cancel();
    this.flushTimer?.cancel();
    for (const take of this.takers.splice(0)) take(undefined);
  }

  private wake(entry: QueueEntry, change: ClusterChange, event: string): void {
    const { hints } = this.profileOf(entry.pod);
    const verdict = decideRequeue(entry.pod, entry, change, hints);
    if (verdict === 'skip') return;
    this.unschedulable.delete(entry.key);
    this.requeue(entry, verdict, event);
  }

  private requeue(entry: QueueEntry, verdict: Exclude<Requeue, 'skip'>, event: string): void {
    const isHeldBack = verdict === 'after-backoff' && entry.backoffUntilMs > this.now().monotonicMs;
    if (isHeldBack) this.holdBack(entry, event);
    else this.activate(entry, event);
  }

  private activate(entry: QueueEntry, event: string): void {
    const admitted = this.admit(entry, event);
    if (!admitted) return;
    this.active.set(admitted);
    this.metrics.incoming('active', event);
    this.serve();
  }

  private holdBack(entry: QueueEntry, event: string): void {
    const admitted = this.admit(entry, event);
    if (!admitted) return;
    const heap = admitted.errors > 0 ? this.failedBackoff : this.refusedBackoff;
    heap.set(admitted);
    this.metrics.incoming('backoff', event);
    this.awaitBackoff();
    this.serve();
  }

  private park(entry: QueueEntry, event: string): void {
    this.unschedulable.set(entry.key, entry);
    this.metrics.incoming('unschedulable', event);
    this.flushTimer ??= this.options.clock.setTimeout(() => this.flush(), FLUSH_EVERY_MS);
  }

  /** Undefined if a plug-in keeps it from being tried: then it waits for what helps that plug-in. */
  private admit(entry: QueueEntry, event: string): QueueEntry | undefined {
    const { gatedBy: _former, ...open } = entry;
    for (const plugin of this.profileOf(entry.pod).preEnqueue) {
      if (!this.isRefusedBy(plugin, entry.pod)) continue;
      const refusedBy = new Set([plugin.name]);
      this.park({ ...open, gatedBy: plugin.name, refusedBy, pendingOn: new Set() }, event);
      return undefined;
    }
    return open;
  }

  private isRefusedBy(plugin: SchedulerPlugin, pod: ReadablePod): boolean {
    try {
      return plugin.preEnqueue?.(pod, this.options.view) !== undefined;
    } catch (error) {
      const facts = { plugin: plugin.name, pod: pod.metadata.name, error: errorMessage(error) };
      this.options.logger.error('a plug-in failed to say whether a pod may be tried; it waits', facts);
      return true;
    }
  }

  /** Hands pods to pending calls of {@link pop}. */
  private serve(): void {
    while (this.takers.length > 0 && !this.isClosed) {
      const entry = this.active.pop() ?? this.refusedBackoff.pop();
      if (!entry) return;
      this.inFlight.begin(entry.key, entry.pod);
      this.takers.shift()?.({ ...entry, attempts: entry.attempts + 1 });
    }
  }

  private awaitBackoff(): void {
    const heads = [this.refusedBackoff.peek(), this.failedBackoff.peek()].filter(
      (head) => head !== undefined,
    );
    if (heads.length === 0 || this.isClosed) return;
    const atMs = Math.min(...heads.map(({ backoffUntilMs }) => windowEnd(backoffUntilMs)));
    if (this.backoffTimer && this.backoffTimer.atMs <= atMs) return;
    this.backoffTimer?.handle.cancel();
    const delayMs = Math.max(0, atMs - this.now().monotonicMs);
    const handle = this.options.clock.setTimeout(() => this.endBackoffs(), delayMs);
    this.backoffTimer = { atMs, handle };
  }

  private endBackoffs(): void {
    this.backoffTimer = undefined;
    const { monotonicMs } = this.now();
    for (const heap of [this.refusedBackoff, this.failedBackoff])
      for (let head = heap.peek(); head && head.backoffUntilMs <= monotonicMs; head = heap.peek()) {
        heap.delete(head.key);
        this.activate(head, 'BackoffComplete');
      }
    this.awaitBackoff();
  }

  private flush(): void {
    this.flushTimer = undefined;
    const since = this.now().monotonicMs - this.maxUnschedulableMs;
    const old = [...this.unschedulable.values()].filter(({ enteredMs }) => enteredMs <= since);
    for (const entry of old) this.wake(entry, ANY_CHANGE, 'UnschedulableTimeout');
    if (this.unschedulable.size > 0 && !this.isClosed)
      this.flushTimer ??= this.options.clock.setTimeout(() => this.flush(), FLUSH_EVERY_MS);
  }

  private remove(key: string): QueueEntry | undefined {
    const parked = this.unschedulable.get(key);
    this.unschedulable.delete(key);
    return (
      this.active.delete(key) ?? this.refusedBackoff.delete(key) ?? this.failedBackoff.delete(key) ?? parked
    );
  }

  private podOf(key: string): ReadablePod | undefined {
    return this.find(key)?.entry.pod;
  }

  private profileOf(pod: ReadablePod): QueueProfile {
    return this.options.profileOf(pod) ?? NOTHING;
  }

  private now(): Instant {
    const { clock } = this.options;
    return { wallMs: clock.now(), monotonicMs: clock.monotonicNow() };
  }
}

function keyOfEntry({ key }: QueueEntry): string {
  return key;
}

function windowEnd(ms: number): number {
  return Math.ceil(ms / WINDOW_MS) * WINDOW_MS;
}

/** The label of kube-scheduler's metric: `NodeAdd`, `AssignedPodDelete`. */
function nameOf({ actions, after, before, resource }: ClusterChange): string {
  const kind = KINDS[resource] ?? (after ?? before)?.kind ?? resource;
  return `${kind}${actions.map(camelCase).join('')}`;
}

const KINDS: Readonly<Record<string, string>> = { pods: 'AssignedPod', nodes: 'Node' };

function camelCase(action: string): string {
  return action
    .split('-')
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('');
}
