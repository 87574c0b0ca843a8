import type { Clock } from '@rollkeeper/machinery/clock';
import type { Informer, ResourceEvent } from '@rollkeeper/client/informer';
import { controlledBy, ownedBy } from '@rollkeeper/client/informer';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import {
  controllerOf,
  isPodActive,
  isPodReady,
  isPodTerminating,
  keyOf,
} from '@rollkeeper/machinery/kubernetes';

/**
 * The time during which at least one of several pods is awaited; overlapping waits count once. Times are monotonic
 * milliseconds, and never go back from call to call.
 */
class PodsOwnTime {
  private readonly waitedFor = new Set<string>();
  /** Start of the current wait; meaningless while no pod is awaited. */
  private openSinceMs = 0;
  private countedMs = 0;
  /** Time before this is counted already. May be in the future. */
  private countedUntilMs = Number.NEGATIVE_INFINITY;

  begin(uid: string, nowMs: number): void {
    if (this.waitedFor.size === 0) this.openSinceMs = nowMs;
    this.waitedFor.add(uid);
  }

  /** @param lastsUntilMs when the wait ends, if that is known in advance */
  end(uid: string, lastsUntilMs: number): void {
    if (!this.waitedFor.delete(uid)) return;
    const fromMs = Math.max(this.openSinceMs, this.countedUntilMs);
    if (lastsUntilMs <= fromMs) return;
    this.countedMs += lastsUntilMs - fromMs;
    this.countedUntilMs = lastsUntilMs;
  }

  /** The total up to now. */
  until(nowMs: number): number {
    const tooMuchMs = Math.max(this.countedUntilMs - nowMs, 0);
    const openFromMs = Math.max(this.openSinceMs, this.countedUntilMs);
    const openMs = this.waitedFor.size === 0 ? 0 : Math.max(nowMs - openFromMs, 0);
    return this.countedMs - tooMuchMs + openMs;
  }
}

/** How a rollout ended: `superseded` by the next change before it was complete. */
type TimedOutcome = 'complete' | 'deadline_exceeded' | 'superseded' | 'deleted';

/** Durations begin when the cache shows the change of the Deployment. */
export interface RolloutMetrics {
  /**
   * The first reaction of the controllers: a ReplicaSet created or scaled, or a status that has observed the change.
   */
  firstWrite(durationMs: number): void;
  ended(outcome: TimedOutcome, durationMs: number): void;
  /** For a complete rollout: its duration less the time spent waiting for pods. */
  overhead(durationMs: number): void;
}

interface RolloutCaches {
  /** One per API with Deployments of ours. */
  readonly deployments: readonly Informer<Deployment>[];
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
}

interface Rollout {
  readonly namespace: string | undefined;
  readonly generation: number;
  readonly startedMs: number;
  readonly minReadyMs: number;
  /** Old pods must be deleted before new ones are created. */
  readonly recreates: boolean;
  readonly podsOwn: PodsOwnTime;
  hasFirstWrite: boolean;
}

/**
 * Times rollouts from the caches: from the change of a Deployment's spec until the first reaction to it, and until its
 * status says complete. Runs on every replica, so that a new leader, or a new owner of a slot, knows when current rollouts began; only one
 * reports. Objects that belong to no current rollout cost a map look-up.
 */
export class RolloutDurations {
  private readonly rollouts = new Map<string, Rollout>();
  private caches: RolloutCaches | undefined;

  constructor(
    private readonly options: {
      readonly clock: Pick<Clock, 'monotonicNow'>;
      readonly metrics: RolloutMetrics;
      /** Whether this replica reports rollouts in a namespace: the leader, or who works on its slot. */
      readonly tellsOf: (namespace: string | undefined) => boolean;
    },
  ) {}

  /** Number of current rollouts. */
  get size(): number {
    return this.rollouts.size;
  }

  /** Returns the unsubscribe. */
  watch(caches: RolloutCaches): () => void {
    this.caches = caches;
    const removals = [
      ...caches.deployments.map((informer) => informer.addEventHandler((event) => this.onDeployment(event))),
      caches.replicaSets.addEventHandler((event) => this.onReplicaSet(event)),
      caches.pods.addEventHandler((event) => this.onPod(event)),
    ];
    return () => removals.forEach((remove) => remove());
  }

  private onDeployment(event: ResourceEvent<Deployment>): void {
    const { object } = event;
    const uid = object.metadata.uid ?? '';
    if (event.type === 'deleted') return this.end(uid, 'deleted');
    // Its slot was away, so the end of the rollout that was in progress then was not seen here.
    if (event.type === 'added' && event.initial) this.rollouts.delete(uid);
    const before = event.type === 'modified' ? event.old : undefined;
    const isNew =
      event.type === 'added' ? !event.initial : before?.metadata.generation !== object.metadata.generation;
    if (isNew) this.begin(uid, object);
    const rollout = this.rollouts.get(uid);
    if (!rollout || (object.status?.observedGeneration ?? 0) < rollout.generation) return;
    this.answered(rollout);
    const outcome = outcomeOf(object);
    if (outcome) this.end(uid, outcome);
  }

  private onReplicaSet(event: ResourceEvent<ReplicaSet>): void {
    const rollout = this.rolloutOf(event.object);
    if (!rollout || event.type === 'deleted') return;
    // A status may still describe pods from before the change.
    const isAnswer =
      event.type === 'added' || event.old.metadata.generation !== event.object.metadata.generation;
    if (isAnswer) this.answered(rollout);
    // The pod watch may have been ahead.
    if (event.type === 'added') this.lookAtPods(rollout, event.object);
  }

  private onPod(event: ResourceEvent<Pod>): void {
    if (this.rollouts.size === 0) return;
    const { metadata } = event.object;
    const owner = controllerOf(event.object);
    if (!owner) return;
    const key = keyOf({ namespace: metadata.namespace, name: owner.name });
    const replicaSet = this.caches?.replicaSets.lister.get(key);
    const rollout = replicaSet?.metadata.uid === owner.uid ? this.rolloutOf(replicaSet) : undefined;
    if (!rollout) return;
    if (event.type === 'deleted') rollout.podsOwn.end(metadata.uid ?? '', this.options.clock.monotonicNow());
    else this.look(rollout, event.object);
  }

  private rolloutOf(replicaSet: DeepReadonly<ReplicaSet>): Rollout | undefined {
    return this.rollouts.size === 0 ? undefined : this.rollouts.get(controllerOf(replicaSet)?.uid ?? '');
  }

  private begin(uid: string, deployment: DeepReadonly<Deployment>): void {
    const { metadata, spec } = deployment;
    const { generation = 0 } = metadata;
    if (this.rollouts.get(uid)?.generation === generation) return;
    this.end(uid, 'superseded');
    const rollout: Rollout = {
      namespace: metadata.namespace,
      generation,
      startedMs: this.options.clock.monotonicNow(),
      minReadyMs: (spec.minReadySeconds ?? 0) * 1000,
      recreates: spec.strategy?.type === 'Recreate',
      podsOwn: new PodsOwnTime(),
      hasFirstWrite: false,
    };
    this.rollouts.set(uid, rollout);
    if (!this.caches) return;
    for (const replicaSet of controlledBy(this.caches.replicaSets.lister, deployment))
      this.lookAtPods(rollout, replicaSet);
  }

  private lookAtPods(rollout: Rollout, replicaSet: DeepReadonly<ReplicaSet>): void {
    for (const pod of this.caches ? ownedBy(this.caches.pods.lister, replicaSet) : [])
      this.look(rollout, pod);
  }

  /** A pod is awaited until it is available; with Recreate, also until it is deleted. */
  private look({ minReadyMs, podsOwn, recreates }: Rollout, pod: DeepReadonly<Pod>): void {
    const uid = pod.metadata.uid ?? '';
    const nowMs = this.options.clock.monotonicNow();
    const isReady = isPodReady(pod);
    const isOnItsWay = isPodActive(pod) ? !isReady : recreates && isPodTerminating(pod);
    if (isOnItsWay) podsOwn.begin(uid, nowMs);
    else podsOwn.end(uid, isPodActive(pod) ? nowMs + minReadyMs : nowMs);
  }

  private answered(rollout: Rollout): void {
    if (rollout.hasFirstWrite) return;
    rollout.hasFirstWrite = true;
    const { clock, metrics, tellsOf } = this.options;
    if (tellsOf(rollout.namespace)) metrics.firstWrite(clock.monotonicNow() - rollout.startedMs);
  }

  private end(uid: string, outcome: TimedOutcome): void {
    const rollout = this.rollouts.get(uid);
    if (!rollout) return;
    this.rollouts.delete(uid);
    const { clock, metrics, tellsOf } = this.options;
    if (!tellsOf(rollout.namespace)) return;
    const nowMs = clock.monotonicNow();
    const durationMs = nowMs - rollout.startedMs;
    metrics.ended(outcome, durationMs);
    if (outcome === 'complete') metrics.overhead(Math.max(durationMs - rollout.podsOwn.until(nowMs), 0));
  }
}

/** For a Deployment whose status has observed its spec. */
function outcomeOf({ spec, status }: DeepReadonly<Deployment>): TimedOutcome | undefined {
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') return 'deadline_exceeded';
  const wanted = spec.replicas ?? 1;
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas];
  return counts.every((count = 0) => count === wanted) ? 'complete' : undefined;
}
