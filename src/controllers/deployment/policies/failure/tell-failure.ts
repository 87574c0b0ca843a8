import { REVISION } from '../../kubernetes/annotations.js';
import type { Workload } from '../../kubernetes/workload.js';
import { workloadOf } from '../../kubernetes/workload.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { PROGRESS_DEADLINE_EXCEEDED } from '../../kubernetes/reasons.js';
import type { FailedTemplate } from '../common/failed-templates.js';
import { CONFIG_DIGEST } from '../config-restart/settings.js';
import { RETRY } from '../common/names.js';
import type { Pass } from '../common/pass.js';
import type { FailureFields } from './settings.js';
import { hashOf } from '../common/revisions.js';
import { ROLLED_BACK, tellProgress } from '../common/tell.js';

/** `Revision 5 (ReplicaSet "web-5d") failed: …` */
export function failureSentence(
  { cause, replicaSet, revision, aborted }: FailedTemplate,
  versionKind: Workload['versionKind'] = 'ReplicaSet',
): string {
  const which = revision === '' ? 'The rollout' : `Revision ${revision} (${versionKind} "${replicaSet}")`;
  return `${which} ${aborted ? 'was' : 'failed:'} ${cause}`;
}

/**
 * Says that the rollout failed by the reason that `kubectl rollout status` and other tools end by, for as long as the Deployment
 * asks for what failed.
 */
export function tellFailure(
  { draft, outcome, policy }: Pass<FailureFields>,
  failure: FailedTemplate,
  target: ReplicaSetDraft,
): void {
  const { resource, target: typed, versionKind } = workloadOf(draft.observed);
  const runs = `evision ${target.annotations[REVISION] ?? ''} (${versionKind} "${target.name}")`;
  const holds = policy.onFailure === 'hold';
  const rest = holds ? `R${runs} runs until the template changes.` : `Going back to r${runs}.`;
  const said = failureSentence(failure, versionKind);
  tellProgress(draft, {
    status: 'False',
    reason: PROGRESS_DEADLINE_EXCEEDED,
    message: `${holds ? `${ROLLED_BACK}: ` : ''}${said}. ${rest}${configurationNote(draft, failure)}`,
  });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'failed-template',
    sentence: `what it asks for failed and is not tried again: ${failure.cause}; revision ${target.annotations[REVISION] ?? ''} runs instead`,
    unblockedBy: [
      'another template',
      `rollkeeper retry ${typed}, or kubectl annotate ${resource} ${draft.name} ${RETRY}=WHO`,
    ],
    endsByItself: !holds,
  };
}

/** A rollback restores a template, and not the content of ConfigMaps and Secrets. */
export function configurationNote(draft: RolloutDraft, { template, to }: FailedTemplate): string {
  const digests = [template, to?.template].map((hash) => {
    const set = draft.living.find((each) => hashOf(draft, each.template) === hash);
    return set && (set.template.metadata?.annotations?.[CONFIG_DIGEST] ?? '');
  });
  const [failed, good] = digests;
  if (failed === undefined || good === undefined || failed === good) return '';
  return ' Its ConfigMaps and Secrets still have the content that was refused, and pods that start from now on read it: change it back as well.';
}

/** Says that what runs is not what was last asked for, until something else is. */
export function tellRolledBack({ draft, outcome }: Pass, failure: FailedTemplate): void {
  const { to } = failure;
  const { target: typed, versionKind } = workloadOf(draft.observed);
  const target = to ? `revision ${to.revision} (${versionKind} "${to.replicaSet}")` : 'an earlier revision';
  tellProgress(draft, {
    status: 'False',
    reason: ROLLED_BACK,
    message: `${failureSentence(failure, versionKind)}. Rolled back to the pods of ${target}.${configurationNote(draft, failure)}`,
  });
  outcome.standing = {
    code: 'rolled-back',
    sentence: `it was rolled back to ${target}: ${failure.cause}`,
    unblockedBy: ['another template', `rollkeeper retry ${typed} tries what failed again`],
    endsByItself: false,
  };
}
