import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { addFailure, readFailures, withFailures, type FailedTemplate } from '../common/failed-templates.js';
import { RETRY } from '../common/names.js';
import type { Pass } from '../common/pass.js';
import { hashOf, isGood, lastGood, refOf, replacesOthers } from '../common/revisions.js';
import { tellEvent, warning } from '../common/tell.js';
import type { VersionRule } from '../common/version-rule.js';
import type { FailureFields } from '../failure/settings.js';
import { failureSentence } from '../failure/tell-failure.js';
import type { FailedRollout, OrderedRollout, OrderSurroundings } from './order-source.js';
import { RELEASE_OF_VERSION, endedRelease } from './release-settings.js';

type ReleasePass = Pass<FailureFields> & OrderSurroundings;

/** If one Deployment of a release fails, the others go back as well. Before the rule that goes back: what it notes, that one follows. */
export const GO_BACK_TOGETHER: VersionRule<ReleasePass> = {
  prepare: (pass, before) => {
    if (pass.order && pass.draft.annotations[RETRY] === undefined) followFailures(pass, before);
    return false;
  },
  conclude: (pass, latest) => {
    if (latest) noteRelease(pass, latest);
  },
};

/** A version that failed with its release has failed for as long as that release has. */
function followFailures(pass: ReleasePass, before: ReplicaSetDraft | undefined): void {
  const { draft, policy } = pass;
  const failed = failedOther(pass);
  const recorded = readFailures(draft.annotations);
  const isOver = ({ byOther, release }: FailedTemplate): boolean =>
    byOther === true && (!failed || release !== policy.release);
  const failures = recorded.filter((failure) => !isOver(failure));
  if (failures.length < recorded.length) draft.replaceMetadata(withFailures(draft.annotations, failures));
  if (failed && policy.unclear === undefined && policy.onFailure !== 'none')
    failWith(pass, { failed, failures, before });
}

interface FailedRelease {
  readonly failed: FailedRollout;
  readonly failures: readonly FailedTemplate[];
  readonly before: ReplicaSetDraft | undefined;
}

function failWith(pass: ReleasePass, { before, failed, failures }: FailedRelease): void {
  const { draft, outcome, policy } = pass;
  const { release = '' } = policy;
  const current = hashOf(draft);
  const target = lastGood(draft, failures, current);
  const isBack = failures.some((each) => each.release === release && each.to?.template === current);
  const isPart = !before || before.annotations[RELEASE_OF_VERSION] === release;
  if (!target || isBack || !isPart || failures.some(({ template }) => template === current)) return;
  const ref = before ? refOf(draft, before) : { template: current, replicaSet: '', revision: '' };
  const cause = `release ${release} failed by deployment/${failed.name}: ${failed.failure.cause}`;
  const failure: FailedTemplate = {
    ...ref,
    ...{ at: draft.now, cause, to: refOf(draft, target), release, byOther: true },
  };
  draft.replaceMetadata(withFailures(draft.annotations, addFailure(failures, failure)));
  tellEvent(
    draft,
    outcome,
    warning('RolloutFailed', `${failureSentence(failure)}. Going back to ${target.name}`),
  );
}

/** The Deployment of the release that failed by itself. */
function failedOther({ draft, order, policy }: ReleasePass): FailedRollout | undefined {
  const { release } = policy;
  if (!order || release === undefined) return undefined;
  for (const found of order.failedIn(draft.observed.metadata.namespace ?? '', release)) {
    const { failure, name } = found;
    if (name !== draft.name && failure.release === release && failure.byOther === undefined) return found;
  }
  return undefined;
}

/** Whether the rollouts of all other Deployments of the release have ended well. */
function areOthersDone({ draft, order, policy }: ReleasePass): boolean {
  const { release } = policy;
  if (!order || release === undefined) return false;
  for (const other of order.inRelease(draft.observed.metadata.namespace ?? '', release))
    if (other.name !== draft.name && !isDone(other)) return false;
  return true;
}

/** Notes on a version that is rolled out which release it is part of, and later that all of the release have become good. */
function noteRelease(pass: ReleasePass, latest: ReplicaSetDraft): void {
  const { draft, policy } = pass;
  const { release } = policy;
  if (release === undefined) return;
  const noted = latest.annotations[RELEASE_OF_VERSION];
  if (isGood(latest)) {
    if (noted === release && areOthersDone(pass)) note(draft, latest, endedRelease(release));
    return;
  }
  const isWayBack = readFailures(draft.annotations).some(({ to }) => to?.template === hashOf(draft));
  const isRolledOut = latest.observed === undefined || replacesOthers(draft, latest);
  if (isRolledOut && !isWayBack && noted !== release) note(draft, latest, release);
}

function isDone({ isGood, state }: OrderedRollout): boolean {
  return isGood && state === 'ended';
}

function note(draft: RolloutDraft, latest: ReplicaSetDraft, text: string): void {
  draft.annotate(latest, { ...latest.annotations, [RELEASE_OF_VERSION]: text });
}
