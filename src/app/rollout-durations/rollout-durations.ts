import type { Clock } from '../../base/clock/index.js';
import type { Informer, ResourceEvent } from '../../kit/informer/index.js';
import type { DeepReadonly, Deployment } from '../../base/kubernetes/index.js';

/** How a rollout ended: `superseded` by the next change before it was complete. */
export type RolloutOutcome = 'complete' | 'deadline_exceeded' | 'superseded' | 'deleted';

export interface RolloutMetrics {
  ended(outcome: RolloutOutcome, durationMs: number): void;
}

interface Rollout {
  readonly generation: number;
  readonly startedMs: number;
}

/**
 * Times rollouts by what the cache shows: from the change of a Deployment's spec until its status says complete. Runs on
 * every replica, so that a new leader knows when the rollouts under way began; only the leader tells.
 */
export class RolloutDurations {
  private readonly rollouts = new Map<string, Rollout>();

  constructor(
    private readonly options: {
      readonly clock: Pick<Clock, 'monotonicNow'>;
      readonly metrics: RolloutMetrics;
      readonly isLeader: () => boolean;
    },
  ) {}

  /** Rollouts under way. */
  get size(): number {
    return this.rollouts.size;
  }

  /** Returns the unsubscribe. */
  watch(deployments: Informer<Deployment>): () => void {
    return deployments.addEventHandler((event) => this.observe(event));
  }

  private observe(event: ResourceEvent<Deployment>): void {
    const { object } = event;
    const uid = object.metadata.uid ?? '';
    if (event.type === 'deleted') return this.end(uid, 'deleted');
    const before = event.type === 'modified' ? event.old : undefined;
    const generation = object.metadata.generation ?? 0;
    const isNew = event.type === 'added' ? !event.initial : before?.metadata.generation !== generation;
    if (isNew) this.begin(uid, generation);
    const outcome = this.rollouts.has(uid) ? outcomeOf(object) : undefined;
    if (outcome) this.end(uid, outcome);
  }

  private begin(uid: string, generation: number): void {
    if (this.rollouts.get(uid)?.generation === generation) return;
    this.end(uid, 'superseded');
    this.rollouts.set(uid, { generation, startedMs: this.options.clock.monotonicNow() });
  }

  private end(uid: string, outcome: RolloutOutcome): void {
    const rollout = this.rollouts.get(uid);
    if (!rollout) return;
    this.rollouts.delete(uid);
    const { clock, isLeader, metrics } = this.options;
    if (isLeader()) metrics.ended(outcome, clock.monotonicNow() - rollout.startedMs);
  }
}

function outcomeOf({ metadata, spec, status }: DeepReadonly<Deployment>): RolloutOutcome | undefined {
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return undefined;
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') return 'deadline_exceeded';
  const wanted = spec.replicas ?? 1;
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas];
  return counts.every((count = 0) => count === wanted) ? 'complete' : undefined;
}
