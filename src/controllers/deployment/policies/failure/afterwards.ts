import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { workloadOf } from '../../kubernetes/workload.js';
import { isRolloutComplete } from '../../kubernetes/progress.js';
import { NEW_REPLICA_SET_AVAILABLE, PROGRESS_DEADLINE_EXCEEDED } from '../../kubernetes/reasons.js';
import { checkFailure, mayBecomeGood } from './may-become-good.js';
import type { FailedTemplate } from '../common/failed-templates.js';
import { addFailure, withFailures } from '../common/failed-templates.js';
import { markLatestGood, needsGoodRevisions } from './good-revisions.js';
import { judgeRollout } from './judge.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass } from '../common/pass.js';
import type { BlueGreenFields } from '../blue-green/settings.js';
import type { CheckFields } from '../checks/settings.js';
import type { TrafficFields } from '../traffic/settings.js';
import type { StepFields } from '../steps/settings.js';
import type { FailureFields } from './settings.js';
import { lastGood, refOf } from '../common/revisions.js';
import { failureSentence, tellFailure, tellRolledBack } from './tell-failure.js';
import { observedProgress, progressReason, tellEvent, warning } from '../common/tell.js';

type JudgedPass = Pass<FailureFields & CheckFields & StepFields & BlueGreenFields & TrafficFields>;

interface RolledOut {
  readonly latest: ReplicaSetDraft;
  /** The hash of its template. */
  readonly current: string;
  readonly failures: readonly FailedTemplate[];
}

/** The verdict on the rollout with this pass: failed, good, or neither yet. */
export function judgeAfterwards(pass: JudgedPass, rolledOut: RolledOut): void {
  const { draft, outcome, policy } = pass;
  const { current, failures, latest } = rolledOut;
  const complete = isRolloutComplete(draft, draft.status);
  const hasFailed = failures.some(({ template }) => template === current);
  if (policy.onFailure !== 'none' && !hasFailed) {
    const failedCheck = checkFailure(latest);
    if (failedCheck !== undefined) return fail(pass, rolledOut, failedCheck);
    const verdict = judgeRollout(draft, latest, policy, pass.podsOf(latest));
    if (verdict.kind === 'failed') return fail(pass, rolledOut, verdict.why);
    if (verdict.kind === 'withheld' && isNewlyExceeded(pass)) {
      const message = `No rollback: ${verdict.why}; ${verdict.cause} is not one of its failure-causes`;
      tellEvent(draft, outcome, warning('RollbackWithheld', message));
    }
    if (verdict.kind === 'well') lookAgainAfter(outcome, verdict.lookAgainAfterMs);
  }
  // How long it has to last may be what cannot be understood.
  const isKnown = policy.unclear === undefined;
  const isWell = isKnown && complete && !hasFailed && mayBecomeGood(policy, latest, draft.nowMs);
  if (isWell && needsGoodRevisions(policy)) markLatestGood(draft, policy, latest, outcome);
  const [newest] = failures;
  const isRolledBack = newest?.to?.template === current && !hasFailed;
  if (isRolledBack && progressReason(draft) === NEW_REPLICA_SET_AVAILABLE) tellRolledBack(pass, newest);
}

function fail(pass: JudgedPass, { current, failures, latest }: RolledOut, why: string): void {
  const { draft, outcome } = pass;
  const { release } = pass.policy;
  const { versionKind } = workloadOf(draft.observed);
  const failure = {
    ...refOf(draft, latest),
    ...{ at: draft.now, cause: why },
    ...(release !== undefined && { release }),
  };
  const isSecond = failures[0]?.to?.template === current;
  const target = isSecond ? undefined : lastGood(draft, failures, current);
  if (isSecond) {
    record(pass, addFailure(failures, { ...failure, stopped: true }));
    const message = `${failureSentence(failure, versionKind)}. It is what an earlier failure went back to, so it is left as it is`;
    tellEvent(draft, outcome, warning('RollbackFailed', message));
  } else if (target) {
    const recorded = addFailure(failures, { ...failure, to: refOf(draft, target) });
    record(pass, recorded);
    const message = `${failureSentence(failure, versionKind)}. Going back to ${target.name}`;
    tellEvent(draft, outcome, warning('RolloutFailed', message));
    if (recorded[0]) tellFailure(pass, recorded[0], target);
    // Its own write brings it back; this covers a watch that misses it.
    lookAgainAfter(outcome, 1000);
  } else if (release !== undefined || isNewlyExceeded(pass)) {
    // The others of the release go back by it.
    if (release !== undefined) record(pass, addFailure(failures, failure));
    const message = `${failureSentence(failure, versionKind)}. No revision is known to be good, so it is left as it is`;
    tellEvent(draft, outcome, warning('NothingToRollBackTo', message));
  }
}

function record({ draft }: JudgedPass, failures: readonly FailedTemplate[]): void {
  draft.replaceMetadata(withFailures(draft.annotations, failures));
}

function isNewlyExceeded({ draft }: JudgedPass): boolean {
  return (
    progressReason(draft) === PROGRESS_DEADLINE_EXCEEDED &&
    observedProgress(draft)?.reason !== PROGRESS_DEADLINE_EXCEEDED
  );
}
