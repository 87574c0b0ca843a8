import type { Annotations } from './annotations.js';
import { NO_ANNOTATION_RULES, ROLLBACK_TO, int64Annotation, isOwnAnnotation } from './annotations.js';
import type { RolloutRules } from './rollout-rules.js';
import type { RolloutDraft, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { noLastRevisionNote, noSuchRevisionNote, rollbackUnchangedNote, rolledBackNote } from './events.js';
import { withNewReplicaSet } from './new-replica-set.js';
import { equalIgnoringHash, withoutHash } from './pod-template.js';
import { lastRevision, revisionOf } from './revision.js';

/** The requested revision; `undefined` without a request. 0 is the previous one. */
export function requestedRollback(annotations: Annotations): bigint | undefined {
  return int64Annotation(annotations, ROLLBACK_TO);
}

/**
 * Gives the Deployment the template and the annotations of an earlier revision, reports the result, and removes the
 * request in any case. (Behaviour of Kubernetes' `pkg/controller/deployment/rollback.go`.)
 */
export function stepRollback(
  draft: RolloutDraft,
  observed: RolloutSets,
  requested: bigint,
  rules: RolloutRules,
): void {
  const { all } = withNewReplicaSet(draft, observed, rules);
  const revision = requested === 0n ? lastRevision(all) : requested;
  if (revision === 0n) return giveUp(draft, noLastRevisionNote());
  const target = all.find((replicaSet) => revisionOf(replicaSet) === revision);
  if (!target) return giveUp(draft, noSuchRevisionNote());
  if (equalIgnoringHash(target.template, draft.spec.template)) {
    return giveUp(draft, rollbackUnchangedNote(draft.name));
  }
  draft.replaceMetadata(restoredAnnotations(draft, target), withoutHash(target.template));
  draft.note(rolledBackNote(draft.name, revision));
}

function giveUp(draft: RolloutDraft, note: ReturnType<typeof noSuchRevisionNote>): void {
  draft.replaceMetadata(withoutRequest(draft.annotations));
  draft.note(note);
}

/**
 * The shared annotations as they were at that revision, or else the cause of the change that is being taken back
 * would be written to the ReplicaSet that is rolled back to. How the Deployment is looked after stays as it is now.
 */
export function restoredAnnotations(
  { annotations, limits }: RolloutDraft,
  target: ReplicaSetDraft,
): Record<string, string> {
  const { annotationRules = NO_ANNOTATION_RULES } = limits;
  const { keptPrefix } = annotationRules;
  const stays = (name: string): boolean =>
    isOwnAnnotation(name, annotationRules) || (keptPrefix !== undefined && name.startsWith(keptPrefix));
  const own = Object.entries(withoutRequest(annotations)).filter(([name]) => stays(name));
  const restored = Object.entries(target.annotations).filter(([name]) => !stays(name));
  return Object.fromEntries([...own, ...restored]);
}

function withoutRequest(annotations: Annotations): Record<string, string> {
  const { [ROLLBACK_TO]: _request, ...rest } = annotations;
  return rest;
}
