import { setField } from '../../kubernetes/index.js';
import type { Annotations } from './annotations.js';
import { REVISION, REVISION_HISTORY, integerAnnotation, isOwnAnnotation } from './annotations.js';
import type { ReplicaSetDraft } from './draft.js';

/** Longest text of earlier revisions kept on a ReplicaSet; the oldest are dropped (Kubernetes has the same). */
const MAX_HISTORY_CHARS = 2000;

/** A ReplicaSet's revision; 0 where it has none, or none that can be read. */
export function revisionOf(replicaSet: ReplicaSetDraft): number {
  return integerAnnotation(replicaSet.annotations, REVISION) ?? 0;
}

/** The revision that the new ReplicaSet must have: one more than the highest of the old. */
export function nextRevision(oldReplicaSets: readonly ReplicaSetDraft[]): number {
  return Math.max(0, ...oldReplicaSets.map(revisionOf)) + 1;
}

/** The revision before the newest; 0 where there is none. */
export function lastRevision(replicaSets: readonly ReplicaSetDraft[]): number {
  const descending = replicaSets.map(revisionOf).sort((a, b) => b - a);
  return Math.max(0, descending[1] ?? 0);
}

/**
 * The annotations of the new ReplicaSet: the Deployment's, and its revision. The revision only ever grows: when old
 * ReplicaSets were deleted meanwhile, the computed one may be lower than the one it has. A revision that is
 * replaced, because the ReplicaSet is rolled back to, is kept in the history.
 */
export function newReplicaSetAnnotations(
  deployment: Annotations,
  current: Annotations,
  revision: number,
): Record<string, string> {
  const annotations: Record<string, string> = { ...current };
  for (const [name, value] of Object.entries(deployment)) {
    if (!isOwnAnnotation(name)) setField(annotations, name, value);
  }
  const previous = current[REVISION];
  // Somebody wrote something else into it: not ours to overwrite.
  if (previous && integerAnnotation(current, REVISION) === undefined) return annotations;
  if (Number(previous ?? 0) >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (previous !== undefined) {
    annotations[REVISION_HISTORY] = appendToHistory(current[REVISION_HISTORY] ?? '', previous);
  }
  return annotations;
}

/** A history with the revision at its end, shortened at its beginning to the allowed length. */
export function appendToHistory(history: string, revision: string): string {
  const revisions = history === '' ? [] : history.split(',');
  revisions.push(revision);
  while (revisions.length > 1 && revisions.join(',').length > MAX_HISTORY_CHARS) revisions.shift();
  return revisions.join(',');
}
