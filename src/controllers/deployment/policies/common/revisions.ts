import { findCondition } from '@rollkeeper/machinery/kubernetes';
import { REVISION } from '../../kubernetes/annotations.js';
import { templateHashOf } from '../../kubernetes/deployment-api.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { NEW_REPLICA_SET_AVAILABLE } from '../../kubernetes/reasons.js';
import { revisionOf } from '../../kubernetes/revision.js';
import { isTime, parseTimeMs } from '../../../shared/index.js';
import type { FailedTemplate, RevisionRef } from './failed-templates.js';
import { COMPLETE_SINCE, GOOD_SINCE } from './names.js';

type Template = RolloutDraft['spec']['template'];

/** Identifies a template, also after its ReplicaSet was deleted. */
export function hashOf(draft: RolloutDraft, template: Template = draft.spec.template): string {
  return templateHashOf(draft.observed, template);
}

export function refOf(draft: RolloutDraft, replicaSet: ReplicaSetDraft): RevisionRef {
  return {
    template: hashOf(draft, replicaSet.template),
    replicaSet: replicaSet.name,
    revision: String(revisionOf(replicaSet)),
  };
}

export function isGood({ annotations }: ReplicaSetDraft): boolean {
  return isTime(annotations[GOOD_SINCE]);
}

export function markGood(draft: RolloutDraft, replicaSet: ReplicaSetDraft): void {
  draft.annotate(replicaSet, { ...replicaSet.annotations, [GOOD_SINCE]: draft.now });
}

/** The ReplicaSets of templates that failed, other than the one with this template. */
export function failedSets(
  draft: RolloutDraft,
  failures: readonly FailedTemplate[],
  current: string,
): ReadonlySet<ReplicaSetDraft> {
  const failed = new Set(failures.map(({ template }) => template));
  failed.delete(current);
  if (failed.size === 0) return new Set();
  return new Set(draft.living.filter(({ template }) => failed.has(hashOf(draft, template))));
}

/** The newest of the good revisions that have not failed since, other than the one with this template. */
export function lastGood(
  draft: RolloutDraft,
  failures: readonly FailedTemplate[],
  current: string,
): ReplicaSetDraft | undefined {
  const failed = new Set([current, ...failures.map(({ template }) => template)]);
  return draft.living
    .filter((set) => isGood(set) && set.observed?.metadata.deletionTimestamp === undefined)
    .filter((set) => set.observed !== undefined && !failed.has(hashOf(draft, set.template)))
    .reduce<ReplicaSetDraft | undefined>(
      (best, set) => (best && revisionOf(best) >= revisionOf(set) ? best : set),
      undefined,
    );
}

/** The ReplicaSet whose rollout was the last to begin: the one that the Deployment has the revision of. */
export function revisionInForce(draft: RolloutDraft): ReplicaSetDraft | undefined {
  const revision = draft.observed.metadata.annotations?.[REVISION];
  return draft.living.find(
    ({ annotations, observed }) =>
      observed !== undefined && revision !== undefined && annotations[REVISION] === revision,
  );
}

/** Whether a ReplicaSet other than this has pods, so that a rollout to it replaces something. */
export function replacesOthers(draft: RolloutDraft, latest: ReplicaSetDraft | undefined): boolean {
  return activeOf(draft.living).some((set) => set !== latest);
}

/** Since when the rollout to the new ReplicaSet is complete, as Kubernetes' condition has it, or else as noted on it. */
export function completeSinceMs(
  draft: Pick<RolloutDraft, 'status'>,
  latest: ReplicaSetDraft,
): number | undefined {
  const progressing = findCondition(draft.status.conditions, 'Progressing');
  if (progressing?.reason === NEW_REPLICA_SET_AVAILABLE) return parseTimeMs(progressing.lastUpdateTime);
  return progressing ? undefined : parseTimeMs(latest.annotations[COMPLETE_SINCE]);
}

/** Whether no other has a newer revision, so that the position on it is that of this rollout. */
export function isNewest(draft: RolloutDraft, latest: ReplicaSetDraft): boolean {
  return draft.living.every((set) => set === latest || revisionOf(set) < revisionOf(latest));
}
