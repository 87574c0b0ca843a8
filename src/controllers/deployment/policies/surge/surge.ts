import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { findCondition, isPodActive } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs, shortenedTo } from '../../../shared/index.js';
import { maxSurge } from '../../kubernetes/limits.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { BudgetSurroundings } from '../budgets/respect-budgets.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import { normal, tellEvent } from '../common/tell.js';
import type { SurgeFields } from './settings.js';

type SurgePass = Pass<SurgeFields> & BudgetSurroundings;

/** A rollout whose new pods find no room takes an old pod first. */
export const SURGE: Policy<SurgePass> = { decide: surgeIfItFits };

/** A scheduler, a cluster autoscaler or a quota has this long to find room for a new pod, milliseconds. */
const PATIENCE_MS = 30_000;

/** The words of kube-scheduler for a node that would take the pod if another one were not there. */
const LACKS_ROOM =
  /Insufficient |Too many pods|free ports|anti-affinity|topology spread|max volume count|cannot allocate all claims/i;
/** The words of the API server for a quota that is used up. */
const LACKS_QUOTA = /exceeded quota/i;

/** A new pod that finds no room. */
interface Refusal {
  /** Since when, epoch milliseconds. */
  readonly sinceMs: number;
  /** A part of a sentence. */
  readonly why: string;
}

/**
 * Lends the rollout one pod below its floor, so that the steps take an old pod, and the new one gets its room. They take no
 * more: with one pod missing, the floor is reached. As soon as new pods find room by themselves, nothing is lent.
 */
function surgeIfItFits(pass: SurgePass): PolicyDecision | undefined {
  const { budgets, draft, outcome, policy } = pass;
  const latest = latestOf(draft, draft.living);
  if (!policy.surgesIfItFits || draft.spec.paused || maxSurge(draft.spec) === 0 || !latest) return undefined;
  if (activeOf(draft.living).every((set) => set === latest)) return undefined;
  const refusal = refusalOf(pass, latest);
  if (!refusal)
    return hasPending(pass, latest) ? { afterwards: () => lookAgainAfter(outcome, PATIENCE_MS) } : undefined;
  const leftMs = refusal.sinceMs + PATIENCE_MS - draft.nowMs;
  if (leftMs > 0)
    return {
      afterwards: () => {
        lookAgainAfter(outcome, leftMs);
        tellWait(pass, refusal, `an old pod goes first if that lasts for ${PATIENCE_MS / 1000} s`);
      },
    };
  // The budgets may forbid it.
  const knowsBudgets = budgets === undefined || (budgets !== 'off' && budgets.availability === 'known');
  if (!knowsBudgets)
    return { afterwards: () => tellWait(pass, refusal, 'no old pod goes, because budgets are not known') };
  return { limits: { lent: 1 }, afterwards: () => tellTaken(pass, latest, refusal) };
}

/** No change of the ReplicaSet reports that the scheduler finds no node. */
function hasPending({ podsOf }: SurgePass, latest: ReplicaSetDraft): boolean {
  return podsOf(latest).some((pod) => isPodActive(pod) && pod.spec.nodeName === undefined);
}

/** The pod that has waited for the longest time; a quota, if no pod is there to wait. */
function refusalOf({ draft, podsOf }: SurgePass, latest: ReplicaSetDraft): Refusal | undefined {
  const waiting = podsOf(latest).flatMap((pod) => unscheduled(pod, draft.nowMs));
  const [longest] = waiting.toSorted((a, b) => a.sinceMs - b.sinceMs);
  if (longest) return longest;
  const refused = findCondition(latest.status.conditions, 'ReplicaFailure');
  const isMissing = (latest.status.replicas ?? 0) < latest.replicas;
  if (refused?.status !== 'True' || !isMissing || !LACKS_QUOTA.test(refused.message ?? '')) return undefined;
  const sinceMs = parseTimeMs(refused.lastTransitionTime) ?? draft.nowMs;
  return { sinceMs, why: `a quota refuses the next new pod: ${short(refused.message)}` };
}

function unscheduled(pod: DeepReadonly<Pod>, nowMs: number): readonly Refusal[] {
  const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
  const { lastTransitionTime, message = '', reason, status } = scheduled ?? {};
  if (!isPodActive(pod) || status !== 'False' || reason !== 'Unschedulable' || !LACKS_ROOM.test(message))
    return [];
  const sinceMs = parseTimeMs(lastTransitionTime) ?? nowMs;
  return [{ sinceMs, why: `no node has room for new pod ${pod.metadata.name}: ${short(message)}` }];
}

/** Without the part about preemption, which a rollout does not wait for. */
function short(message = ''): string {
  const [reasons = ''] = message.replaceAll(/\s+/g, ' ').split(/\.? (?:no new claims|preemption:)/);
  return shortenedTo(LONGEST, reasons.trim().replace(/\.$/, ''));
}

/** Characters; admission and schedulers write more. */
const LONGEST = 300;

function tellTaken(pass: SurgePass, latest: ReplicaSetDraft, refusal: Refusal): void {
  const { draft, outcome } = pass;
  const isTaken = draft.sizeSteps.some(({ from, replicaSet, to }) => replicaSet !== latest && to < from);
  if (!isTaken)
    return tellWait(pass, refusal, 'as many pods are missing as may be, or a budget keeps the others');
  const message = `An old pod goes first, because ${refusal.why}`;
  tellEvent(draft, outcome, normal('SurgeDoesNotFit', message));
}

function tellWait({ outcome }: SurgePass, { why }: Refusal, then: string): void {
  outcome.standing ??= {
    code: 'waits-for-room',
    sentence: `${why}; ${then}`,
    unblockedBy: ['room for one more pod: another node, a larger quota, or smaller requests'],
    endsByItself: true,
  };
}
