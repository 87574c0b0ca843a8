import { REVISION, REVISION_HISTORY } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { withoutHash } from '../../kubernetes/pod-template.js';
import { requestedRollback, restoredAnnotations } from '../../kubernetes/rollback.js';
import { restartOnChange } from '../config-restart/config-restart.js';
import { readFailures, type FailedTemplate } from '../common/failed-templates.js';
import { markServedGood } from '../failure/good-revisions.js';
import { withNotedChange } from '../history/history.js';
import { holdOfStart, tellHeld } from '../start/hold-start.js';
import { OURS, RETRY } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Policy, PolicyDecision } from '../common/pass.js';
import type { FailureFields } from '../failure/settings.js';
import { takeRequests, tellRetry } from '../requests/requests.js';
import { finishResize, resizeInPlace } from '../resize/resize-in-place.js';
import {
  failedSets,
  hashOf,
  isGood,
  isNewest,
  lastGood,
  replacesOthers,
  revisionInForce,
} from '../common/revisions.js';
import { rollOut, stayInPlace, type RolloutInForce, type VersionPass } from './roll-out.js';
import { capInPlace, leftInSteps } from '../steps/stages.js';
import { giveTurnBack, keepTurn, tellTurn, waitForTurn } from '../turns/take-turns.js';
import { tellFailure } from '../failure/tell-failure.js';
import { ROLLED_BACK, isFailureTold, tellEvent, warning } from '../common/tell.js';

/** Steps, failures, windows and turns together decide which version runs, and how far. */
export const VERSION: Policy<VersionPass> = { decide: chooseVersion };

/** Its own write brings it back; this covers a watch that misses it. */
const RETRY_LOOKS_AGAIN_MS = 1000;

/**
 * Decides which version the steps are played for: the one that is asked for, as far as its steps allow; a good one in place of one
 * that failed; or the one that serves, while another may not begin.
 */
function chooseVersion(pass: VersionPass): PolicyDecision | undefined {
  const { draft, isAsked, policy } = pass;
  if (!isAsked) return undefined;
  // A rollback that was asked for comes first, and policies rest while the rollout is paused.
  if (draft.spec.paused || requestedRollback(draft.annotations) !== undefined) return rest(pass);
  const { template } = draft.spec;
  const before = latestOf(draft, draft.living);
  markServedGood(draft, policy, before);
  takeRequests(pass, before);
  if (draft.spec.template !== template) return { ends: true };
  const isRetry = draft.annotations[RETRY] !== undefined;
  if (!isRetry && restartOnChange(pass, before)) return { ends: true };
  const failures = readFailures(draft.annotations);
  const current = hashOf(draft);
  const failure = failures.find((each) => each.template === current && !each.stopped);
  const target = failure && lastGood(draft, failures, current);
  const back = failure && target && isEnforced(failure, policy) ? { failure, target } : undefined;
  const failed = failedSets(draft, failures, back ? hashOf(draft, back.target.template) : current);
  draft.limit({ mayNotGrow: new Set([...failed, ...leftInSteps(draft, policy, before)]) });
  if (isRetry) return retry(pass, back?.target);
  return back ? goBack(pass, back) : goOn(pass, { before, current, failures });
}

function rest({ draft, policy }: VersionPass): PolicyDecision {
  const latest = latestOf(draft, draft.living);
  const failed = failedSets(draft, readFailures(draft.annotations), hashOf(draft));
  const left = leftInSteps(draft, policy, latest);
  return { limits: { most: capInPlace(draft, policy, latest), mayNotGrow: new Set([...failed, ...left]) } };
}

function retry(pass: VersionPass, runs: ReplicaSetDraft | undefined): PolicyDecision {
  const afterwards = (): void => {
    tellRetry(pass);
    lookAgainAfter(pass.outcome, RETRY_LOOKS_AGAIN_MS);
  };
  return { runs, afterwards };
}

/** The version that is asked for has not failed, or may stay although it has. */
function goOn(pass: VersionPass, rollout: RolloutInForce): PolicyDecision {
  const { draft, policy } = pass;
  const { before, current, failures } = rollout;
  const served = before ? undefined : servedMeanwhile(pass, failures, current);
  const held = served && holdOfStart(policy, draft.nowMs);
  if (held) {
    if (pass.turns !== undefined) giveTurnBack(draft);
    return { runs: served, afterwards: () => tellHeld(pass, held) };
  }
  const wait = served && waitForTurn(pass);
  if (wait) return { runs: served, afterwards: () => tellTurn(pass, wait.message) };
  if (before && policy.unclear !== undefined && isUnfinished(draft, before))
    return stayInPlace(pass, { ...rollout, before });
  const decision = resizeInPlace(pass, before) ?? rollOut(pass, rollout);
  const afterwards = (): void => {
    decision.afterwards?.();
    const latest = latestOf(draft, draft.living);
    finishResize(pass, latest);
    keepTurn(pass, latest);
  };
  return { ...decision, afterwards };
}

/**
 * The version that runs while a new one may not begin: the version before, or, if that one failed, the version that the
 * rollout went back to.
 */
function servedMeanwhile(
  { draft, policy }: VersionPass,
  failures: readonly FailedTemplate[],
  current: string,
): ReplicaSetDraft | undefined {
  const inForce = revisionInForce(draft);
  if (!inForce) return undefined;
  const hash = hashOf(draft, inForce.template);
  const failure = failures.find(({ stopped, template }) => template === hash && !stopped);
  const isFailed = failure !== undefined && isEnforced(failure, policy);
  return isFailed ? (lastGood(draft, failures, current) ?? inForce) : inForce;
}

/** An abort counts without a policy as well: a person asked for it. */
function isEnforced({ aborted }: FailedTemplate, { onFailure }: FailureFields): boolean {
  return onFailure !== 'none' || aborted === true;
}

interface WayBack {
  readonly failure: FailedTemplate;
  readonly target: ReplicaSetDraft;
}

/**
 * First the failure is written to the status, so that `kubectl rollout status` ends with it; then the template is put back, where it may be. Until
 * then, and where it may not, the good revision runs in place of what is asked for.
 */
function goBack(pass: VersionPass, { failure, target }: WayBack): PolicyDecision {
  const { draft, policy } = pass;
  if (pass.turns !== undefined) giveTurnBack(draft);
  if (policy.onFailure === 'hold' || !isFailureTold(draft))
    return { runs: target, afterwards: () => tellFailure(pass, failure, target) };
  putBack(pass, { failure, target });
  return { ends: true };
}

function putBack({ draft, outcome, policy }: VersionPass, { failure, target }: WayBack): void {
  const change = {
    template: hashOf(draft, target.template),
    trigger: 'rollback',
    by: OURS,
    why: failure.cause,
  } as const;
  const restored = restoredAnnotations(draft, target);
  const annotations = policy.history ? withNotedChange(restored, change) : restored;
  draft.replaceMetadata(annotations, withoutHash(target.template));
  const revision = target.annotations[REVISION] ?? '';
  const message = `Rolled back from revision ${failure.revision} to the pods of revision ${revision} (${target.name}): ${failure.cause}`;
  tellEvent(draft, outcome, warning(ROLLED_BACK, message));
}

/** Whether it is on its way to a version that has never run whole: not a way back, and not a change of size. */
function isUnfinished(draft: RolloutDraft, latest: ReplicaSetDraft): boolean {
  const ranBefore = latest.annotations[REVISION_HISTORY] !== undefined || !isNewest(draft, latest);
  return !isGood(latest) && !ranBefore && replacesOthers(draft, latest);
}
