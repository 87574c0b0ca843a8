import { parseInt64, setField } from '@rollkeeper/machinery/kubernetes';
import type { AnnotationRules, Annotations } from './annotations.js';
import {
  NO_ANNOTATION_RULES,
  REVISION,
  REVISION_HISTORY,
  int64Annotation,
  isOwnAnnotation,
} from './annotations.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import type { RolloutRules } from './rollout-rules.js';
import { byCreation } from './replica-set-draft.js';

/** Maximum length of the revision history on a ReplicaSet; the oldest are dropped (as in Kubernetes). */
const MAX_HISTORY_CHARS = 2000;

/** The largest int64, which has no successor. */
const LAST = 2n ** 63n - 1n;

/**
 * The revision in the annotations of a ReplicaSet, an int64; 0 if it has none, `undefined` if it is invalid. (Behaviour
 * of `Revision` in Kubernetes' `pkg/controller/deployment/util/deployment_util.go`.)
 */
export function readRevision(annotations: Annotations | undefined): bigint | undefined {
  if (annotations?.[REVISION] === undefined) return 0n;
  return int64Annotation(annotations, REVISION);
}

/** A ReplicaSet's revision; 0 if missing or invalid. */
export function revisionOf(replicaSet: ReplicaSetDraft): bigint {
  return readRevision(replicaSet.annotations) ?? 0n;
}

/**
 * The revision of the new ReplicaSet: one more than the highest of the old. The last int64 is skipped: Kubernetes' sum
 * overflows there, and leaves each later ReplicaSet without a revision.
 */
export function nextRevision(
  oldReplicaSets: readonly ReplicaSetDraft[],
  { lastRevision: passesOver }: Pick<RolloutRules, 'lastRevision'>,
): bigint {
  const revisions = oldReplicaSets.map(revisionOf);
  if (!passesOver) return BigInt.asIntN(64, highest(revisions) + 1n);
  return highest(revisions.filter((revision) => revision < LAST)) + 1n;
}

/** The revision before the newest; 0 if there is none. */
export function lastRevision(replicaSets: readonly ReplicaSetDraft[]): bigint {
  const [, ...others] = replicaSets.map(revisionOf).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
  return highest(others);
}

/**
 * The lowest revision first; by creation if two are equal or one is invalid. (Behaviour of `ReplicaSetsByRevision`
 * there. With an invalid one, three may form a cycle; the input order then decides.)
 */
export function byRevision(a: ReplicaSetDraft, b: ReplicaSetDraft): number {
  const [revisionA, revisionB] = [readRevision(a.annotations), readRevision(b.annotations)];
  if (revisionA === undefined || revisionB === undefined || revisionA === revisionB) return byCreation(a, b);
  return revisionA < revisionB ? -1 : 1;
}

/**
 * The annotations of the new ReplicaSet: the Deployment's, and its revision. The revision only ever grows: if old
 * ReplicaSets were deleted, the computed one may be lower than its current one. A revision replaced by a rollback is
 * kept in the history.
 */
export function newReplicaSetAnnotations(
  deployment: Annotations,
  current: Annotations,
  revision: bigint,
  rules: AnnotationRules = NO_ANNOTATION_RULES,
): Record<string, string> {
  const annotations: Record<string, string> = { ...current };
  for (const [name, value] of Object.entries(deployment)) {
    if (!isOwnAnnotation(name, rules)) setField(annotations, name, value);
  }
  // Kubernetes leaves what was taken off the Deployment; a policy of then must not come back with a rollback.
  for (const name of Object.keys(current))
    if (rules.mirrored.has(name) && !(name in deployment)) delete annotations[name];
  const previous = current[REVISION];
  const served = servedRevision(current);
  // A value that we did not write is not overwritten.
  if (served === undefined || served >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (previous !== undefined) {
    annotations[REVISION_HISTORY] = appendToHistory(current[REVISION_HISTORY] ?? '', previous);
  }
  return annotations;
}

/** The ReplicaSet's current revision; `undefined` if the annotation is not a revision. */
export function servedRevision(annotations: Annotations): bigint | undefined {
  return annotations[REVISION] ? readRevision(annotations) : 0n;
}

/** The revision that the ReplicaSet had before it came back; `undefined` for one that has not. */
export function lastServedRevision(annotations: Annotations): bigint | undefined {
  const last = annotations[REVISION_HISTORY]?.split(',').at(-1);
  return last === undefined ? undefined : parseInt64(last);
}

/** Appends the revision to a history, dropping the beginning beyond the allowed length. */
export function appendToHistory(history: string, revision: string): string {
  const revisions = history === '' ? [] : history.split(',');
  revisions.push(revision);
  while (revisions.length > 1 && revisions.join(',').length > MAX_HISTORY_CHARS) revisions.shift();
  return revisions.join(',');
}

function highest(revisions: readonly bigint[]): bigint {
  return revisions.reduce((most, revision) => (revision > most ? revision : most), 0n);
}
