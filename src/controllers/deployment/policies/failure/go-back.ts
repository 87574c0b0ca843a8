import { REVISION } from '../../kubernetes/annotations.js';
import { withoutHash } from '../../kubernetes/pod-template.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { restoredAnnotations } from '../../kubernetes/rollback.js';
import type { BlueGreenFields } from '../blue-green/settings.js';
import type { CheckFields } from '../checks/settings.js';
import type { FailedTemplate } from '../common/failed-templates.js';
import { readFailures } from '../common/failed-templates.js';
import { OURS, RETRY } from '../common/names.js';
import type { Pass } from '../common/pass.js';
import { failedSets, hashOf, lastGood, revisionInForce } from '../common/revisions.js';
import { ROLLED_BACK, isFailureTold, tellEvent, warning } from '../common/tell.js';
import type { RolloutInForce, VersionChoice, VersionRule } from '../common/version-rule.js';
import { withNotedChange } from '../history/history.js';
import type { HistoryFields } from '../history/settings.js';
import type { StepFields } from '../steps/settings.js';
import { markServedGood } from './good-revisions.js';
import type { FailureFields } from './settings.js';
import { tellFailure } from './tell-failure.js';

type FailurePass = Pass<BlueGreenFields & CheckFields & FailureFields & HistoryFields & StepFields>;

/** A good version runs in place of one that failed. */
export const GO_BACK: VersionRule<FailurePass> = {
  prepare: ({ draft, policy }, before) => {
    markServedGood(draft, policy, before);
    return false;
  },
  limitAtRest: ({ draft }) => ({
    mayNotGrow: failedSets(draft, readFailures(draft.annotations), hashOf(draft)),
  }),
  limit: (pass, rollout) => {
    const { draft } = pass;
    const back = wayBack(pass, rollout);
    const current = back ? hashOf(draft, back.target.template) : rollout.current;
    return { mayNotGrow: failedSets(draft, rollout.failures, current) };
  },
  choose: (pass, rollout) => {
    if (pass.draft.annotations[RETRY] !== undefined) return undefined;
    const back = wayBack(pass, rollout);
    return back && goBack(pass, back);
  },
};

interface WayBack {
  readonly failure: FailedTemplate;
  readonly target: ReplicaSetDraft;
}

/** The way back from the version that is asked for; `undefined` if it has not failed, or may stay although it has. */
export function wayBack(
  { draft, policy }: Pass<FailureFields>,
  { current, failures }: RolloutInForce,
): WayBack | undefined {
  const failure = failures.find((each) => each.template === current && !each.stopped);
  const target = failure && lastGood(draft, failures, current);
  return failure && target && isEnforced(failure, policy) ? { failure, target } : undefined;
}

/**
 * The version that runs while a new one may not begin: the version before, or, if that one failed, the version that the
 * rollout went back to. `undefined` if the new version has begun.
 */
export function servedMeanwhile(
  { draft, policy }: Pass<FailureFields>,
  { before, current, failures }: RolloutInForce,
): ReplicaSetDraft | undefined {
  const inForce = before ? undefined : revisionInForce(draft);
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

/**
 * First the failure is written to the status, so that `kubectl rollout status` ends with it; then the template is put back, where it may be. Until
 * then, and where it may not, the good revision runs in place of what is asked for.
 */
function goBack(pass: FailurePass, { failure, target }: WayBack): VersionChoice {
  const { draft, policy } = pass;
  if (policy.onFailure === 'hold' || !isFailureTold(draft))
    return { runs: target, afterwards: () => tellFailure(pass, failure, target), isWithheld: true };
  putBack(pass, { failure, target });
  return { ends: true, isWithheld: true };
}

function putBack({ draft, outcome, policy }: FailurePass, { failure, target }: WayBack): void {
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
