import { mayBeUnderPolicies } from './state/asks-for-policies.js';
import type { RolloutDraft } from './kubernetes/draft.js';
import type { RolloutRules } from './kubernetes/rollout-rules.js';
import { playSyncs } from './kubernetes/sync-deployment.js';
import { tellTimeoutCause } from './kubernetes/timeout-cause.js';
import { ANNOTATION_RULES } from './policies/known-names.js';
import type { DecidedPolicies, PolicyContext } from './policies/decide-policies.js';
import { decideUnderPolicies } from './policies/decide-policies.js';
import { decideRemoval, handOverRemoval, refuseRemoval } from './policies/remove-pods/remove-pods.js';

export interface DecisionContext extends PolicyContext {
  readonly rules: RolloutRules;
}

/**
 * Decides a whole pass, purely: Kubernetes' syncs, within the limits and for the version that the policies give them. What
 * Kubernetes' controller does not say is added last.
 */
export function decideRollout(draft: RolloutDraft, context: DecisionContext): DecidedPolicies {
  draft.limit({ annotationRules: ANNOTATION_RULES });
  const isUnder =
    (context.experiments ?? []).length > 0 ||
    mayBeUnderPolicies(draft, context.namespaceAnnotations, context.surroundings);
  const decided = isUnder ? decideWithPolicies(draft, context) : decideAlone(draft, context);
  tellTimeoutCause(draft, context.podsOf);
  return decided;
}

function decideAlone(draft: RolloutDraft, context: DecisionContext): DecidedPolicies {
  playSyncs(draft, context);
  return { writes: { services: [], madeServices: [], routes: [], copies: [], pods: [], experiments: [] } };
}

function decideWithPolicies(draft: RolloutDraft, context: DecisionContext): DecidedPolicies {
  const removal = decideRemoval(draft, context.podsOf, (scratch) => decideRollout(scratch, context));
  if (removal?.kind === 'refused') refuseRemoval(draft, removal.why);
  const decided = decideUnderPolicies(draft, context, () => playSyncs(draft, context));
  if (removal && removal.kind !== 'refused') handOverRemoval(draft, removal);
  return decided;
}
