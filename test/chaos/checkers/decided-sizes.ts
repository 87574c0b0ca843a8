import type { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import type { RolloutLimits } from './rollout-limits.js';
import { limitsOf } from './rollout-limits.js';
import type { StoreReplay } from './store-replay.js';
import { isReadyPod } from './store-replay.js';

/** Longer than a cache may lag behind the store while links are slow. */
const KNOWLEDGE_MS = 10_000;

/** The pods of a Deployment after a change. */
interface Standing {
  /** The sizes of its ReplicaSets together. */
  readonly total: number;
  /** The ready pods that stay, as far as the sizes keep them. */
  readonly staying: number;
  /** The same by the statuses of the ReplicaSets, which is all that their Deployment is decided from. */
  readonly told: number;
}

/**
 * Judges each size that is written for one Deployment, in the middle of a change of size, limits or template as well:
 *
 * - none makes the sizes together more than the ceiling, nor, where they are more already, more than they are;
 * - none takes ready pods away below the floor, nor, where fewer were known to be available, below these.
 *
 * The limits are those of any spec that the controller may not have seen a successor of: from the generation that its last status
 * answers to. Those of a held size count until the next status, with which a pass ends: the write that ends a rollout takes the note of that size
 * away, and others of its pass follow. Known to be available is the least that the status of the ReplicaSets has said for a while, since a cache
 * may lag.
 * A ready pod that a user has deleted counts until the status of its ReplicaSet says so.
 */
export class DecisionJudge {
  private readonly limits = new Map<number, RolloutLimits>();
  private known: { readonly atMs: number; readonly count: number }[] = [];
  private before: Standing | undefined;
  /** Limits that others of the same generation have replaced since the last status. */
  private replaced: RolloutLimits[] = [];
  private status: string | undefined;

  /** @param knowledgeMs how long a cache may lag behind the store */
  constructor(
    private readonly replay: StoreReplay,
    private readonly knowledgeMs = KNOWLEDGE_MS,
  ) {}

  problemsOf(event: HistoryEvent, deployment: Deployment): string[] {
    const owned = this.replay.replicaSetsOf(deployment.metadata.uid ?? '');
    const { before } = this;
    this.noteLimits(deployment, owned);
    const after = this.standingOf(owned);
    const problems = before && event.kind === 'ReplicaSet' ? this.judge(before, after) : [];
    this.before = after;
    this.noteKnown(owned, event.seenAtMs);
    return problems;
  }

  private judge(before: Standing, after: Standing): string[] {
    const limits = [...this.limits.values(), ...this.replaced];
    const ceiling = Math.max(...limits.map((each) => each.ceiling));
    const known = Math.min(...this.known.map(({ count }) => count));
    const floor = Math.min(known, ...limits.map((each) => each.floor));
    const problems: string[] = [];
    if (after.total > ceiling && after.total > before.total)
      problems.push(`sizes were made to add up to ${after.total}, the limit is ${ceiling}`);
    const unseen = Math.max(0, before.told - before.staying);
    if (after.staying < before.staying && after.staying + unseen < floor)
      problems.push(`a size leaves ${after.staying} ready pods of ${before.staying}, the limit is ${floor}`);
    return problems;
  }

  private noteLimits(deployment: Deployment, owned: readonly ReplicaSet[]): void {
    const { generation = 0 } = deployment.metadata;
    const status = JSON.stringify(deployment.status);
    if (status !== this.status) this.replaced = [];
    this.status = status;
    const present = this.limits.get(generation);
    if (present) this.replaced.push(present);
    this.limits.set(generation, limitsOf(deployment, owned));
    const observed = deployment.status?.observedGeneration ?? 0;
    for (const each of this.limits.keys()) if (each < observed) this.limits.delete(each);
  }

  private noteKnown(owned: readonly ReplicaSet[], atMs: number): void {
    const count = toldOf(owned);
    // The newest of those that are too old was the state of things when the time began.
    const begin = this.known.findLastIndex((each) => each.atMs <= atMs - this.knowledgeMs);
    this.known = [...this.known.slice(Math.max(0, begin)), { atMs, count }];
  }

  private standingOf(owned: readonly ReplicaSet[]): Standing {
    return {
      total: owned.reduce((sum, set) => sum + sizeOf(set), 0),
      staying: owned.reduce((sum, set) => sum + Math.min(this.readyOf(set), sizeOf(set)), 0),
      told: toldOf(owned),
    };
  }

  private readyOf({ metadata }: ReplicaSet): number {
    return this.replay.podsOf(metadata.uid ?? '').filter(isReadyPod).length;
  }
}

function sizeOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

function toldOf(owned: readonly ReplicaSet[]): number {
  return owned.reduce((sum, set) => sum + Math.min(set.status?.availableReplicas ?? 0, sizeOf(set)), 0);
}
