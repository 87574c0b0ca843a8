import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { ShrinkLimit } from '../../kubernetes/rollout-limits.js';
import { isObserved, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { Problem } from '../common/tell.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import type { Refusal } from './budget-limit.js';
import { BudgetLimit, refusingSinceMs } from './budget-limit.js';
import type { Budgets } from './budgets.js';
import { annotationOf } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import type { BudgetFields } from './settings.js';
import { BUDGETS_NOT_WATCHED, WAITING_FOR_BUDGET, observedProgress } from '../common/tell.js';
import { tellWait } from '../common/tell-wait.js';

export interface BudgetSurroundings {
  /** The PodDisruptionBudgets. @default not known */
  readonly budgets?: Budgets;
}
type BudgetPass = Pass<BudgetFields> & BudgetSurroundings;

/** A rollout takes no pod that a PodDisruptionBudget forbids to take. */
export const BUDGETS: Policy<BudgetPass> = { decide: respectBudgets, trouble: budgetTrouble };

/** A disruption controller that is at work has seen a change by then. */
const BEHIND_MS = 10_000;
/** The time within which starting caches show an object. */
const STARTING_MS = 2000;

/** Why budgets are not respected. */
function budgetTrouble({ budgets, draft, policy }: BudgetPass): Problem | undefined {
  if (!policy.respectsBudgets || budgets === undefined) return undefined;
  const reason = BUDGETS_NOT_WATCHED;
  const isGiven = (draft.annotations[annotationOf('surge')] ?? '').trim() !== '';
  const name = annotationOf(isGiven ? 'surge' : 'disruption-budgets');
  if (budgets === 'off') {
    const remedy = 'start the controller with --respect-disruption-budgets';
    return { reason, message: `${name} is given, and PodDisruptionBudgets are not watched: ${remedy}` };
  }
  return budgets.availability === 'refused'
    ? { reason, message: `${name} is given, and the controller may not list PodDisruptionBudgets` }
    : undefined;
}

/** Lets the steps take no pod that a budget forbids, and reports what waits for one. */
function respectBudgets(pass: BudgetPass): PolicyDecision | undefined {
  const { budgets, draft, podsOf, policy } = pass;
  if (!policy.respectsBudgets || budgets === 'off' || budgets?.availability === 'refused') return undefined;
  if (budgets === undefined) return asTold(pass);
  const limit = new BudgetLimit(draft, budgets, podsOf);
  const afterwards = (): void => {
    if (budgets.availability !== 'known' || limit.isUncertain) lookAgainAfter(pass.outcome, STARTING_MS);
    if (limit.refusals.length > 0 && !pass.outcome.isWaiting && isAtRest(draft))
      tellRefusals(pass, limit.refusals);
  };
  return { limits: { shrinkLimit: limit }, afterwards };
}

/** If the budgets are not known, as when a rollout is explained, what the condition says counts as true. */
function asTold(pass: BudgetPass): PolicyDecision | undefined {
  const { draft, outcome } = pass;
  const told = observedProgress(draft);
  if (told?.reason !== WAITING_FOR_BUDGET || draft.spec.paused) return undefined;
  const afterwards = (): void => {
    if (!outcome.isWaiting && isAtRest(draft)) tellRefused(pass, told.message ?? '');
  };
  return { limits: { shrinkLimit: NOTHING_GOES }, afterwards };
}

const NOTHING_GOES: ShrinkLimit = {
  allow: (set) => set.replicas,
  allowsNone: (sets) => sets.length === 0,
  annotate: () => ({}),
  writes: [],
};

/** Whether no size has changed, and all pods of the new version are available: nothing else is awaited. */
function isAtRest(draft: RolloutDraft): boolean {
  if (draft.spec.paused || draft.sizeSteps.some(({ from, to }) => from !== to)) return false;
  const latest = latestOf(draft, draft.living);
  return !latest || latest.replicas === 0 || isWhole(latest);
}

function isWhole(latest: ReplicaSetDraft): boolean {
  return isObserved(latest) && lastingAvailable(latest, OWN_RULES) >= latest.replicas;
}

function tellRefusals(pass: BudgetPass, refusals: readonly Refusal[]): void {
  const { draft } = pass;
  const known = refusals.filter((refusal) => waitedMs(refusal, draft.nowMs) >= BEHIND_MS);
  if (known.length > 0) return tellRefused(pass, sentenceOf(known));
  const soonest = Math.min(...refusals.map((refusal) => BEHIND_MS - waitedMs(refusal, draft.nowMs)));
  lookAgainAfter(pass.outcome, soonest);
}

/** How long a budget has refused; one that forbids by the pods that are there needs no proof by time. */
function waitedMs({ budget, why }: Refusal, nowMs: number): number {
  if (why === 'forbids') return Infinity;
  return nowMs - (refusingSinceMs(budget) ?? nowMs);
}

/** Without the number of healthy pods, which changes: each sentence is an Event. */
function sentenceOf(refusals: readonly Refusal[]): string {
  const parts = refusals.map(({ budget: { metadata, status }, why }) =>
    why === 'forbids'
      ? `PodDisruptionBudget "${metadata.name}" needs ${podsOf(status?.desiredHealthy)}`
      : `the status of PodDisruptionBudget "${metadata.name}" allows no disruption, although more pods than it needs are healthy`,
  );
  return `No old pod may go: ${parts.join('; ')}`;
}

function podsOf(count = 0): string {
  return `${count} healthy ${count === 1 ? 'pod' : 'pods'}`;
}

function tellRefused({ draft, outcome }: BudgetPass, message: string): void {
  tellWait(draft, outcome, {
    reason: WAITING_FOR_BUDGET,
    message,
    unblockedBy: [
      'more healthy pods: a maxSurge above 0 starts new ones first',
      'a change of the PodDisruptionBudget',
      `removing ${annotationOf('disruption-budgets')}`,
    ],
    endsByItself: false,
  });
}
