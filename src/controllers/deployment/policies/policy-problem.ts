import type { RolloutDraft } from '../kubernetes/draft.js';
import { blueGreenTrouble } from './blue-green/blue-green-trouble.js';
import { checkProblem } from './checks/check-problem.js';
import { configurationTrouble } from './config-restart/config-restart.js';
import type { Pass, Surroundings } from './pass.js';
import { renderProblems, type CompiledPolicy } from './policy.js';
import { budgetTrouble } from './budgets/respect-budgets.js';
import { turnTrouble } from './turns/take-turns.js';
import {
  BUDGETS_NOT_WATCHED,
  CONFIGURATION_NOT_WATCHED,
  INVALID_ANNOTATION,
  ROLLOUTS_NOT_LIMITED,
  type Problem,
} from './tell.js';
import { zonesTrouble } from './zones/zones.js';

/** What keeps the policies of a Deployment from being followed: the first of what there is. */
export function policyProblem(
  draft: RolloutDraft,
  compiled: CompiledPolicy,
  { budgets, configuration, nodes, outcome, services, turns }: Pick<Pass, 'outcome'> & Surroundings,
): Problem | undefined {
  if (compiled.kind === 'invalid')
    return { reason: INVALID_ANNOTATION, message: renderProblems(compiled.problems) };
  if (compiled.kind === 'none') return undefined;
  const trouble = configurationTrouble(draft, compiled.policy.restartOn, configuration);
  if (trouble !== undefined) return { reason: CONFIGURATION_NOT_WATCHED, message: trouble };
  const unwatched = budgetTrouble(compiled.policy, budgets);
  if (unwatched !== undefined) return { reason: BUDGETS_NOT_WATCHED, message: unwatched };
  const unlimited = turnTrouble(compiled.policy, turns);
  if (unlimited !== undefined) return { reason: ROLLOUTS_NOT_LIMITED, message: unlimited };
  const { blueGreen } = compiled.policy;
  return (
    blueGreenTrouble(draft, blueGreen, services) ??
    zonesTrouble(compiled.policy, nodes) ??
    checkProblem(draft, outcome)
  );
}
