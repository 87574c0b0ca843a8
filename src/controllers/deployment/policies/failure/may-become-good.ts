import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { parseTimeMs } from '../../../shared/index.js';
import type { CheckFields } from '../checks/settings.js';
import type { StepFields } from '../steps/settings.js';
import { isGood } from '../common/revisions.js';
import { isCheckAhead } from '../steps/stages.js';
import type { CheckRun } from '../checks/check-results.js';
import { findRun, hasVerdict, readResults } from '../checks/check-results.js';

/**
 * Whether its checks let a revision count as good: none is before it, none has failed, and none has never had a verdict.
 * @param nowMs by which those that are measured all the way through have been measured. @default at any time
 */
export function mayBecomeGood(
  { checks, steps }: Pick<CheckFields, 'checks'> & StepFields,
  replicaSet: ReplicaSetDraft,
  nowMs?: number,
): boolean {
  const results = readResults(replicaSet.annotations);
  if (results?.runs.some(({ state }) => state === 'failed')) return false;
  if (isCheckAhead(steps, replicaSet)) return false;
  return results === undefined || checks.every((check) => isSatisfied(findRun(results, { check }), nowMs));
}

function isSatisfied(run: CheckRun | undefined, nowMs = 0): boolean {
  if (run?.state === 'overridden') return true;
  return run !== undefined && hasVerdict(run) && (parseTimeMs(run.next) ?? 0) > nowMs;
}

/** Why a rollout has failed by a check; `undefined` where it has not. */
export function checkFailure(replicaSet: ReplicaSetDraft): string | undefined {
  if (isGood(replicaSet)) return undefined;
  const failed = readResults(replicaSet.annotations)?.runs.find(({ state }) => state === 'failed');
  if (!failed) return undefined;
  const where = failed.step === undefined ? '' : ` at step ${failed.step}`;
  return `check ${failed.check} failed${where}${failed.why === undefined ? '' : `: ${failed.why}`}`;
}
