import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { withoutHash } from '../../kubernetes/pod-template.js';
import { restoredAnnotations } from '../../kubernetes/rollback.js';
import { retryFailedChecks } from '../checks/retry-checks.js';
import type { FailedTemplate } from '../common/failed-templates.js';
import { addFailure, readFailures, withFailures } from '../common/failed-templates.js';
import { withNotedChange } from '../history/history.js';
import { ABORT, APPROVE, FAILED, RETRY } from '../common/names.js';
import type { Pass, Policy } from '../common/pass.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { VersionRule } from '../common/version-rule.js';
import { wayBack } from '../failure/go-back.js';
import type { FailureFields } from '../failure/settings.js';
import type { HistoryFields } from '../history/settings.js';
import { byWhom, requesterOf } from '../common/requester.js';
import { hashOf, isGood, lastGood, refOf, replacesOthers } from '../common/revisions.js';
import {
  ROLLOUT_RETRIED,
  normal,
  observedProgress,
  tellEvent,
  tellProgress,
  warning,
} from '../common/tell.js';

type RequestPass = Pass<HistoryFields & Pick<FailureFields, 'release'>>;

/** A person may request a rollback or a retry without any policy. */
export const REQUESTS: Policy<RequestPass> = {
  concerns: ({ draft }) =>
    [ABORT, RETRY, APPROVE, FAILED].some((name) => draft.annotations[name] !== undefined),
};

/** Its own write brings it back; this covers a watch that misses it. */
const RETRY_LOOKS_AGAIN_MS = 1000;

/** Requests are carried out before the version is chosen; a failed version waits until its retry is in the status. */
export const CARRY_OUT_REQUESTS: VersionRule<RequestPass & Pass<FailureFields>> = {
  prepare: (pass, before) => {
    const { template } = pass.draft.spec;
    takeRequests(pass, before);
    return pass.draft.spec.template !== template;
  },
  choose: (pass, rollout) => {
    const { draft, outcome } = pass;
    if (draft.annotations[RETRY] === undefined) return undefined;
    const afterwards = (): void => {
      tellRetry(pass);
      lookAgainAfter(outcome, RETRY_LOOKS_AGAIN_MS);
    };
    return { runs: wayBack(pass, rollout)?.target, afterwards };
  },
};

/** Does what a person asks for by an annotation, and removes the annotation with the same write. */
function takeRequests(pass: RequestPass, latest: ReplicaSetDraft | undefined): void {
  if (pass.draft.annotations[ABORT] !== undefined) abort(pass, latest);
  if (pass.draft.annotations[RETRY] !== undefined) retry(pass, latest);
}

/** The template counts as failed from now on, and what follows is what follows a failure. */
function abort({ draft, outcome, policy }: RequestPass, latest: ReplicaSetDraft | undefined): void {
  const by = requesterOf(draft.annotations, ABORT) ?? '';
  const { [ABORT]: _asked, ...others } = draft.annotations;
  const failures = readFailures(others);
  const current = hashOf(draft);
  const target = lastGood(draft, failures, current);
  if (!target || isSettled(draft, latest)) {
    draft.replaceMetadata(others);
    const why = target ? 'no rollout is under way' : 'no revision is known to be good';
    return tellEvent(
      draft,
      outcome,
      warning('NothingToAbort', `Asked${byWhom(by, draft.names)} to go back, and ${why}`),
    );
  }
  const ref = latest ? refOf(draft, latest) : { template: current, replicaSet: '', revision: '' };
  const cause = `aborted${byWhom(by, draft.names)}`;
  const failure: FailedTemplate = {
    ...ref,
    ...{ at: draft.now, cause, aborted: true, to: refOf(draft, target) },
    ...(policy.release !== undefined && { release: policy.release }),
  };
  draft.replaceMetadata(withFailures(others, addFailure(failures, failure)));
  tellEvent(
    draft,
    outcome,
    warning('RolloutAborted', `The rollout was ${cause}; going back to ${target.name}`),
  );
}

/** A good revision that runs alone is no rollout, also while pods of it are missing: going back from it is an undo. */
function isSettled(draft: RolloutDraft, latest: ReplicaSetDraft | undefined): boolean {
  return latest !== undefined && isGood(latest) && !replacesOthers(draft, latest);
}

/** Retries a failed template: at once if the Deployment asks for it, otherwise by asking for it again. */
function retry(pass: RequestPass, latest: ReplicaSetDraft | undefined): void {
  const { draft, outcome } = pass;
  const by = requesterOf(draft.annotations, RETRY) ?? '';
  const { [RETRY]: _asked, ...others } = draft.annotations;
  const failures = readFailures(others);
  const current = hashOf(draft);
  const asked = failures.find(({ template }) => template === current);
  if (asked) return retryInPlace(pass, { by, others, failures, asked, latest });
  if (retryFailedChecks(draft, latest)) {
    draft.replaceMetadata(others);
    const message = `Measuring the failed checks again, asked${byWhom(by, draft.names)}`;
    return tellEvent(draft, outcome, normal(ROLLOUT_RETRIED, message));
  }
  const [failed, ...rest] = failures;
  draft.replaceMetadata(withFailures(others, rest));
  if (!failed) {
    const message = `Asked${byWhom(by, draft.names)} to try again, and nothing has failed`;
    return tellEvent(draft, outcome, warning('NothingToRetry', message));
  }
  // The failed template replaces only the one that it was rolled back to: a user asked for any other after the failure.
  const isRolledBack = failed.to?.template === current;
  const replicaSet = draft.living.find(({ template }) => hashOf(draft, template) === failed.template);
  if (isRolledBack && replicaSet) {
    const change = { template: failed.template, trigger: 'retry', by } as const;
    const restored = restoredAnnotations(draft, replicaSet);
    const annotations = pass.policy.history ? withNotedChange(restored, change) : restored;
    draft.replaceMetadata(annotations, withoutHash(replicaSet.template));
    tellEvent(
      draft,
      outcome,
      normal(ROLLOUT_RETRIED, `Trying ${replicaSet.name} again, asked${byWhom(by, draft.names)}`),
    );
  } else {
    const message = `What failed is tried again when it is applied, asked${byWhom(by, draft.names)}`;
    tellEvent(draft, outcome, normal(ROLLOUT_RETRIED, message));
  }
}

interface Retry {
  readonly by: string;
  readonly others: Readonly<Record<string, string>>;
  readonly failures: readonly FailedTemplate[];
  readonly asked: FailedTemplate;
  readonly latest: ReplicaSetDraft | undefined;
}

/** The deadline restarts first, in a write of its own: it has expired, and the next look would fail the rollout at once. */
function retryInPlace({ draft, outcome }: RequestPass, { asked, by, failures, latest, others }: Retry): void {
  if (observedProgress(draft)?.reason !== ROLLOUT_RETRIED) return;
  retryFailedChecks(draft, latest);
  draft.replaceMetadata(
    withFailures(
      others,
      failures.filter((failure) => failure !== asked),
    ),
  );
  const what = asked.replicaSet === '' ? 'it' : asked.replicaSet;
  tellEvent(draft, outcome, normal(ROLLOUT_RETRIED, `Trying ${what} again, asked${byWhom(by, draft.names)}`));
}

/** The first of the two writes of a retry in place. */
function tellRetry({ draft }: RequestPass): void {
  const by = requesterOf(draft.annotations, RETRY) ?? '';
  const message = `What failed is about to be tried again, asked${byWhom(by, draft.names)}`;
  tellProgress(draft, { status: 'Unknown', reason: ROLLOUT_RETRIED, message });
}
