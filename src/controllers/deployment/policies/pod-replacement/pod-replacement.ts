import type { DeepReadonly, DeploymentSpec } from '@rollkeeper/machinery/kubernetes';
import { isPodActive, isPodTerminating } from '@rollkeeper/machinery/kubernetes';
import type { PodReplacement } from '../../../shared/index.js';
import { POD_REPLACEMENT, POD_REPLACEMENT_OF_OWNER, TERMINATED } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { isObserved } from '../../kubernetes/replica-set-draft.js';
import {
  DEPLOYMENT_RESUMED,
  FOUND_NEW_REPLICA_SET,
  NEW_REPLICA_SET_AVAILABLE,
  NEW_REPLICA_SET_CREATED,
  REPLICA_SET_UPDATED,
} from '../../kubernetes/reasons.js';
import type { PodsOf } from '../../kubernetes/recreate.js';
import type { Outcome } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import type { PodReplacementFields } from './settings.js';
import {
  WAITING_FOR_TERMINATION,
  normal,
  observedProgress,
  progressReason,
  tellEvent,
  tellProgress,
  asClause,
} from '../common/tell.js';

/** New pods take the place of old ones when those have ended. */
export const POD_REPLACEMENT_POLICY: Policy<Pass<PodReplacementFields>> = {
  prepare: ({ draft, podsOf, policy }) => countEndingPods(draft, podReplacementOf(draft, policy), podsOf),
  conclude: ({ draft, isDeleted, outcome, policy }) => {
    if (isDeleted) return;
    noteReplacement(draft, podReplacementOf(draft, policy));
    if (draft.limits.podsOccupiedBy) tellEnding(draft, outcome);
  },
};

/** The field of KEP-5882; servers without it do not keep it. */
interface WithReplacementPolicy {
  readonly podReplacementPolicy?: unknown;
}

/** The Deployment's own annotation, else its field, else the default of its Namespace. Undefined: as Kubernetes does without the field. */
function podReplacementOf(
  { annotations, spec }: RolloutDraft,
  policy: PodReplacementFields,
): PodReplacement | undefined {
  const isOwn = (annotations[POD_REPLACEMENT] ?? '').trim() !== '';
  if (isOwn && policy.podReplacement) return policy.podReplacement;
  return fieldOf(spec) ?? policy.podReplacement;
}

function fieldOf(spec: DeepReadonly<DeploymentSpec>): PodReplacement | undefined {
  const { podReplacementPolicy }: typeof spec & WithReplacementPolicy = spec;
  if (podReplacementPolicy === 'TerminationComplete') return TERMINATED;
  return podReplacementPolicy === 'TerminationStarted' ? 'started' : undefined;
}

/** Makes the pass count pods that are ending. */
function countEndingPods(draft: RolloutDraft, replacement: PodReplacement | undefined, podsOf: PodsOf): void {
  draft.limit({
    startsBesideEnding: fieldOf(draft.spec) === 'started' && replacement === 'started',
    podsOccupiedBy: replacement === TERMINATED ? (set) => occupiedBy(set, podsOf) : undefined,
  });
}

/**
 * The most pods that a ReplicaSet can have, those that are ending included; unknown where its controller has not acted on its size yet,
 * because it may still have pods of a larger one. ReplicaSets and pods have separate watches: of what the two say, the larger counts.
 */
function occupiedBy(set: ReplicaSetDraft, podsOf: PodsOf): number | undefined {
  if (!set.observed) return set.replicas;
  if (!isObserved(set)) return undefined;
  const size = Math.max(set.replicas, set.observed.spec.replicas ?? 1);
  const pods = podsOf(set);
  const cached = pods.filter(isPodTerminating).length + Math.max(size, pods.filter(isPodActive).length);
  const { replicas = 0, terminatingReplicas = 0 } = set.status;
  return Math.max(cached, terminatingReplicas + Math.max(size, replicas));
}

/** Notes the policy on the ReplicaSets that have pods: their controller replaces lost pods. */
function noteReplacement(draft: RolloutDraft, replacement: PodReplacement | undefined): void {
  for (const set of draft.living) {
    const { [POD_REPLACEMENT_OF_OWNER]: noted, ...others } = set.annotations;
    const wanted = replacement === TERMINATED && set.replicas > 0 ? TERMINATED : undefined;
    if (noted === wanted) continue;
    draft.annotate(set, wanted ? { ...others, [POD_REPLACEMENT_OF_OWNER]: wanted } : others);
  }
}

/** The reasons of a rollout that simply continues. */
const PLAIN: ReadonlySet<string> = new Set([
  REPLICA_SET_UPDATED,
  NEW_REPLICA_SET_CREATED,
  FOUND_NEW_REPLICA_SET,
  DEPLOYMENT_RESUMED,
  NEW_REPLICA_SET_AVAILABLE,
]);

/** Says that the rollout waits for pods to end, where it waits for nothing else. It is complete when the last of them has ended. */
function tellEnding(draft: RolloutDraft, outcome: Outcome): void {
  const reason = progressReason(draft);
  if (draft.spec.paused || outcome.standing || !PLAIN.has(reason ?? '')) return;
  const isNewlyComplete =
    reason === NEW_REPLICA_SET_AVAILABLE && observedProgress(draft)?.reason !== NEW_REPLICA_SET_AVAILABLE;
  const ends = isNewlyComplete && draft.living.some((set) => isEnding(draft, set));
  const isKnown = draft.living.every((set) => draft.limits.podsOccupiedBy?.(set) !== undefined);
  const isStill = isKnown && draft.sizeSteps.length === 0;
  const waits = draft.isHeldBack && isStill && reason !== NEW_REPLICA_SET_AVAILABLE;
  if (!ends && !waits) return;
  const message = ends
    ? 'All pods are new; it is complete when the old ones have ended'
    : 'New pods start when pods that are being deleted have ended';
  if (observedProgress(draft)?.reason !== WAITING_FOR_TERMINATION)
    tellEvent(draft, outcome, normal(WAITING_FOR_TERMINATION, message));
  tellProgress(draft, { status: 'Unknown', reason: WAITING_FOR_TERMINATION, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'waits-for-termination',
    sentence: asClause(message),
    unblockedBy: ['the end of the pods that are being deleted; kubectl get pods shows them as Terminating'],
    endsByItself: true,
  };
}

function isEnding({ limits }: RolloutDraft, set: ReplicaSetDraft): boolean {
  const occupied = limits.podsOccupiedBy?.(set);
  return occupied === undefined || occupied > set.replicas;
}
