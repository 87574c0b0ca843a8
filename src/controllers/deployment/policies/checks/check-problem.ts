import type { RolloutDraft } from '../../kubernetes/draft.js';
import { readFailures } from '../failed-templates.js';
import type { PolicyOutcome } from '../outcome.js';
import { hashOf } from '../revisions.js';
import type { Problem } from '../tell.js';
import { CHECK_FAILED, CHECK_NOT_POSSIBLE, CHECK_UNKNOWN } from '../tell.js';

const REASONS = { failed: CHECK_FAILED, unknown: CHECK_UNKNOWN, impossible: CHECK_NOT_POSSIBLE } as const;

/**
 * A check that holds the rollout and will not simply pass. Undefined if the rollout leaves the failed template: then nothing is
 * held.
 */
export function checkProblem(
  draft: RolloutDraft,
  { checkProblem: problem }: PolicyOutcome,
): Problem | undefined {
  if (!problem) return undefined;
  const current = hashOf(draft);
  const isLeft = readFailures(draft.annotations).some(
    ({ stopped, template }) => template === current && !stopped,
  );
  return isLeft ? undefined : { reason: REASONS[problem.kind], message: problem.message };
}
