import { readFailures } from '../common/failed-templates.js';
import type { Policy } from '../common/pass.js';
import type { CheckPass } from './check-needs.js';
import { hashOf } from '../common/revisions.js';
import type { Problem } from '../common/tell.js';
import { CHECK_FAILED, CHECK_NOT_POSSIBLE, CHECK_UNKNOWN } from '../common/tell.js';

/** Checks decide with the steps. */
export const CHECKS: Policy<CheckPass<object>> = { trouble: checkProblem };

const REASONS = { failed: CHECK_FAILED, unknown: CHECK_UNKNOWN, impossible: CHECK_NOT_POSSIBLE } as const;

/**
 * A check that holds the rollout and will not simply pass. Undefined if the rollout leaves the failed template: then nothing is
 * held.
 */
function checkProblem({ draft, outcome: { checkProblem: problem } }: CheckPass<object>): Problem | undefined {
  if (!problem) return undefined;
  const current = hashOf(draft);
  const isLeft = readFailures(draft.annotations).some(
    ({ stopped, template }) => template === current && !stopped,
  );
  return isLeft ? undefined : { reason: REASONS[problem.kind], message: problem.message };
}
