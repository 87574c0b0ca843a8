import type { Diagnosis } from '../diagnose/index.js';

/** One blocking cause of one object. */
export interface WatchedProblem {
  /** Identifies the object and the cause. */
  readonly id: string;
  readonly kind: string;
  readonly apiVersion?: string;
  readonly namespace?: string;
  readonly name: string;
  /** Absent: not an object of the API, such as a registry of images. */
  readonly uid?: string;
  readonly cause: string;
  /** The problem, one sentence without a full stop. */
  readonly summary: string;
  /** The first thing that would help. */
  readonly remedy?: string;
  /** Since when: as the API reports it, otherwise when it was first seen. */
  readonly sinceMs: number;
}

/** The blocking causes in what was found, each once per object. */
export function problemsIn(found: readonly Diagnosis[], nowMs: number): readonly WatchedProblem[] {
  const byId = new Map<string, WatchedProblem>();
  for (const problem of found.flatMap((diagnosis) => problemsOf(diagnosis, nowMs)))
    if (!byId.has(problem.id)) byId.set(problem.id, problem);
  return [...byId.values()];
}

function problemsOf(diagnosis: Diagnosis, nowMs: number): readonly WatchedProblem[] {
  const { apiVersion, kind, name, namespace, uid } = diagnosis;
  return diagnosis.waitsFor
    .filter(({ severity }) => severity === 'blocked')
    .map(({ cause, since, summary, unblockedBy: [remedy] }) => ({
      id: problemId({ kind, namespace, name, uid, cause }),
      ...{ kind, name, cause, summary, sinceMs: startOf(since, nowMs) },
      ...(apiVersion !== undefined && { apiVersion }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(remedy !== undefined && { remedy }),
    }));
}

/** A recreated object has problems of its own, so its UID is a part of the identity. */
export function problemId({
  cause,
  kind,
  name,
  namespace = '',
  uid = '',
}: {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly cause: string;
}): string {
  return [kind, namespace, name, uid, cause].join('/');
}

function startOf(since: string | undefined, nowMs: number): number {
  const ms = since === undefined ? Number.NaN : Date.parse(since);
  return Number.isNaN(ms) ? nowMs : Math.min(ms, nowMs);
}
