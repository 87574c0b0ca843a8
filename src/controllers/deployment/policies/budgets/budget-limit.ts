import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive, isPodReady, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { FirstToGo } from '../../../shared/index.js';
import {
  FIRST_TO_GO,
  firstToGo,
  granted,
  parseTimeMs,
  rankForDeletion,
  readFirstToGo,
  renderFirstToGo,
  withGranted,
} from '../../../shared/index.js';
import { isCustomDeployment } from '../../kubernetes/deployment-api.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { ShrinkLimit } from '../../kubernetes/rollout-limits.js';
import type { PodsOf } from '../../kubernetes/recreate.js';
import type { Budget, BudgetSource } from './budgets.js';

type ReadablePod = DeepReadonly<Pod>;

/** As many granted disruptions the API server lets a budget have at once. */
const MOST_GRANTED = 2000;

/** Why a budget gives no pod. */
export interface Refusal {
  readonly budget: Budget;
  /**
   * `forbids`: as many pods are healthy as it wants. `behind`: by the pods that are there it would give one, and its status does not
   * say so, or not of its current spec, since the disruption controller has not been there yet.
   */
  readonly why: 'forbids' | 'behind';
}

/** The number of pods that a pass may still take from a budget. */
interface Account {
  readonly budget: Budget;
  readonly selects: (pod: ReadablePod) => boolean;
  /** The number of healthy pods above what it wants. */
  spare: number;
  /** The same by its status, or fewer. */
  left: number;
  readonly isBehind: boolean;
}

/** The pods of a ReplicaSet in the order in which they go. */
interface Queue {
  readonly pods: readonly ReadablePod[];
  /** The smallest size of which the pods have been accounted for: at first the one that the pass began with. */
  accounted: number;
  /** Its status counts ready pods that the cache does not show. */
  readonly isUncertain: boolean;
}

/**
 * Lets a rollout take the ready pods that the budgets give, and all that are not ready. What is taken is written into each budget's
 * status before any pod goes, as an eviction does it, against the version that this decision was made of. So a budget never gives the
 * same pod to two, be they rollouts, evictions or two passes in a row; and what a process took that died before it shrank anything is
 * named in the status, and taken first by the next pass.
 */
export class BudgetLimit implements ShrinkLimit {
  private readonly accounts: readonly Account[];
  private readonly queues = new Map<ReplicaSetDraft, Queue>();
  private taken = new Map<Account, string[]>();
  private readonly refused = new Map<string, Refusal>();

  constructor(
    private readonly draft: RolloutDraft,
    private readonly source: BudgetSource,
    private readonly podsOf: PodsOf,
  ) {
    const { namespace = '' } = draft.observed.metadata;
    this.accounts =
      source.availability === 'known'
        ? source.budgetsIn(namespace).flatMap((budget) => this.accountOf(budget))
        : [];
  }

  /** Whether the caches contradict each other about the pods of a ReplicaSet, so that none of it was taken. */
  get isUncertain(): boolean {
    return [...this.queues.values()].some((queue) => queue.isUncertain);
  }

  /** By the names of the budgets. */
  get refusals(): readonly Refusal[] {
    return [...this.refused.values()].toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  /** The writes that come before a ReplicaSet shrinks. */
  get writes() {
    return [...this.taken].map(([{ budget }, names]) => withGranted(budget, names, this.draft.nowMs));
  }

  allow(set: ReplicaSetDraft, wanted: number): number {
    if (!set.observed || wanted >= set.replicas) return wanted;
    // Until the budgets are known, each may exist.
    if (this.source.availability !== 'known') return set.replicas;
    this.accountForScaling();
    const queue = this.queueOf(set);
    let size = set.replicas;
    while (size > wanted && this.take(queue, size)) size--;
    queue.accounted = Math.min(queue.accounted, size);
    return size;
  }

  allowsNone(sets: readonly ReplicaSetDraft[]): boolean {
    this.accountForScaling();
    const queues = sets.map((set) => this.queueOf(set));
    const sizes = queues.map(({ accounted }) => accounted);
    const before = this.accounts.map(({ left, spare }) => ({ left, spare }));
    const taken = new Map([...this.taken].map(([account, names]) => [account, [...names]]));
    if (sets.every((set) => this.allow(set, 0) === 0)) return true;
    this.accounts.forEach((account, index) => Object.assign(account, before[index]));
    queues.forEach((queue, index) => (queue.accounted = sizes[index] ?? queue.accounted));
    this.taken = taken;
    return false;
  }

  /** The pods that are meant, for the ReplicaSet's own controller. */
  annotate(set: ReplicaSetDraft): Record<string, string> {
    const queue = this.queues.get(set);
    if (!queue) return {};
    const going = queue.pods.slice(0, Math.max(0, queue.pods.length - set.replicas)).filter(isPodReady);
    if (going.length === 0) return {};
    return { [FIRST_TO_GO]: renderFirstToGo(firstToGo(set.replicas, going)) };
  }

  /** The next pod of the queue goes, where the budgets that speak for it let it. */
  private take(queue: Queue, size: number): boolean {
    if (size > queue.accounted) return true;
    if (queue.isUncertain) return false;
    const pod = podAt(queue, size);
    const asked = pod ? this.accountsOf(pod) : [];
    const refusing = asked.filter(({ left }) => left <= 0);
    for (const { budget, isBehind, spare } of refusing) {
      const why = isBehind || spare > 0 ? 'behind' : 'forbids';
      this.refused.set(budget.metadata.name, { budget, why });
    }
    if (refusing.length > 0) return false;
    for (const account of asked) {
      account.left--;
      account.spare--;
      if (pod) this.taken.set(account, [...(this.taken.get(account) ?? []), pod.metadata.name]);
    }
    return true;
  }

  /** Pods that a change of `replicas` has taken in this pass, without asking, are no longer there. */
  private accountForScaling(): void {
    for (const set of this.draft.replicaSets) {
      if (!set.observed) continue;
      const queue = this.queueOf(set);
      for (; queue.accounted > set.replicas; queue.accounted--) {
        const pod = podAt(queue, queue.accounted);
        for (const account of pod ? this.accountsOf(pod) : []) {
          account.left--;
          account.spare--;
        }
      }
    }
  }

  /** The accounts of the budgets that count a pod as healthy. */
  private accountsOf(pod: ReadablePod): readonly Account[] {
    if (!isPodReady(pod)) return [];
    return this.accounts.filter(
      ({ budget, selects }) => selects(pod) && !granted(budget, pod.metadata.name, this.draft.nowMs),
    );
  }

  private queueOf(set: ReplicaSetDraft): Queue {
    const known = this.queues.get(set);
    if (known) return known;
    const pods = this.ranked(set);
    const queue = {
      pods,
      accounted: set.observed?.spec.replicas ?? 1,
      isUncertain: pods.filter(isPodReady).length < (set.status.readyReplicas ?? 0),
    };
    this.queues.set(set, queue);
    return queue;
  }

  /** The active pods; the first are those that were named, or granted already. */
  private ranked(set: ReplicaSetDraft): readonly ReadablePod[] {
    const { draft } = this;
    const pods = this.podsOf(set).filter(isPodActive);
    const related = draft.replicaSets.flatMap((sibling) => this.podsOf(sibling));
    const before = set.observed && readFirstToGo(set.observed, set.observed.spec.replicas ?? 1);
    const isGranted = (pod: ReadablePod): boolean =>
      this.accounts.some(
        ({ budget, selects }) => selects(pod) && granted(budget, pod.metadata.name, draft.nowMs),
      );
    const names = firstToGo(0, pods.filter(isGranted)).pods;
    const first: FirstToGo = { replicas: 0, ...before, pods: { ...names, ...before?.pods } };
    return rankForDeletion({ pods, related, first, nowMs: draft.nowMs });
  }

  private accountOf(budget: Budget): Account[] {
    const matches = tryCompileLabelSelector(budget.spec?.selector);
    const isConcerned = matches && this.ownPods().some((pod) => matches(pod.metadata.labels));
    if (!isConcerned) return [];
    const spare = this.healthy(budget) - (budget.status?.desiredHealthy ?? 0);
    const isBehind = this.isBehind(budget);
    const left = isBehind ? 0 : Math.min(spare, allowedBy(budget));
    return [{ budget, selects: ({ metadata }) => matches(metadata.labels), spare, left, isBehind }];
  }

  /** The pods that are ready and stay. A status may still count pods that were deleted since, or will be soon. */
  private healthy(budget: Budget): number {
    const isCounted = (pod: ReadablePod): boolean =>
      isPodReady(pod) && isPodActive(pod) && !granted(budget, pod.metadata.name, this.draft.nowMs);
    const going = new Set(this.draft.replicaSets.flatMap((set) => this.goingOf(set, isCounted)));
    return this.source.podsOf(budget).filter((pod) => isCounted(pod) && !going.has(pod.metadata.uid)).length;
  }

  /** The pods that a ReplicaSet has still to delete: first those that the budget does not count. */
  private goingOf(
    set: ReplicaSetDraft,
    isCounted: (pod: ReadablePod) => boolean,
  ): readonly (string | undefined)[] {
    const pods = this.podsOf(set).filter(isPodActive);
    const excess = pods.length - (set.observed?.spec.replicas ?? 1);
    if (excess <= 0) return [];
    const countedLast = pods.toSorted((a, b) => Number(isCounted(a)) - Number(isCounted(b)));
    return countedLast.slice(0, excess).map(({ metadata }) => metadata.uid);
  }

  private isBehind({ metadata, spec, status }: Budget): boolean {
    if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return true;
    const isOfScale = spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';
    // Pods of a Deployment of another API are counted by their ReplicaSets.
    if (!isOfScale || isCustomDeployment(this.draft.observed)) return false;
    return (status?.expectedPods ?? 0) < this.draft.replicas;
  }

  private ownPods(): readonly ReadablePod[] {
    return this.draft.replicaSets.flatMap((set) => this.podsOf(set));
  }
}

/** The pod that goes from this size to the next smaller one. Pods beyond the size go already, and a size may have no pod. */
function podAt({ pods }: Queue, size: number): ReadablePod | undefined {
  return pods[pods.length - size];
}

function allowedBy({ status }: Budget): number {
  const entries = Object.keys(status?.disruptedPods ?? {}).length;
  return Math.max(0, Math.min(status?.disruptionsAllowed ?? 0, MOST_GRANTED - entries));
}

function nameOf({ budget }: Refusal): string {
  return budget.metadata.name;
}

/** When a budget last ceased to give pods, epoch milliseconds. */
export function refusingSinceMs({ metadata, status }: Budget): number | undefined {
  const allowed = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  return parseTimeMs(allowed?.status === 'False' ? allowed.lastTransitionTime : metadata.creationTimestamp);
}
