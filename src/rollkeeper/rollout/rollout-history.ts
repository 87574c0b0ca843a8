import type { DeepReadonly, Deployment, Int64, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy, parseInt64, exactInteger } from '@rollkeeper/machinery/kubernetes';
import type { CheckRun, RevisionEntry, Trigger } from '@rollkeeper/controllers/deployment';
import {
  CHANGE_CAUSE,
  GOOD_SINCE,
  equalIgnoringHash,
  readCheckResults,
  readFailures,
  readPosition,
  readRevision,
  readRevisionEntries,
} from '@rollkeeper/controllers/deployment';

/** What became of a revision. `unknown`: no history of it is kept, and nothing else says it. */
export type RevisionResult = 'complete' | 'failed' | 'good' | 'under way' | 'replaced' | 'unknown';

/** A revision of a Deployment, as far as the API knows it. Times are RFC 3339. */
export interface RevisionReport {
  readonly revision: Int64;
  readonly replicaSet: string;
  /** Whether the Deployment asks for it. */
  readonly isCurrent: boolean;
  /** The number that the same template has now, where it came back later. */
  readonly nowRevision?: Int64;
  readonly startedAt?: string;
  /** The requester, by the name that the request gives. */
  readonly by?: string;
  /** The user that the API authenticated. */
  readonly user?: string;
  /** The field manager. */
  readonly tool?: string;
  readonly trigger?: Trigger;
  readonly why?: string;
  /** What differed from the revision before. */
  readonly what?: string;
  readonly result: RevisionResult;
  /** Of a failure. */
  readonly cause?: string;
  readonly endedAt?: string;
  /** From its beginning to its end, milliseconds. */
  readonly tookMs?: number;
  readonly goodSince?: string;
  readonly approvals: readonly { readonly step: number; readonly by: string; readonly at: string }[];
  /** What its checks came to, with their last measurements. */
  readonly checks: readonly CheckRun[];
  readonly pods: number;
  readonly images: readonly string[];
}

/** The revisions that are kept, oldest first: from the notes of a policy, and where there are none, from what Kubernetes keeps. */
export function rolloutHistory(
  deployment: DeepReadonly<Deployment>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
): readonly RevisionReport[] {
  return replicaSets
    .filter((replicaSet) => isControlledBy(replicaSet, deployment))
    .flatMap((replicaSet) => reportsOf(deployment, replicaSet))
    .sort((a, b) => (a.revision < b.revision ? -1 : 1));
}

function reportsOf(
  deployment: DeepReadonly<Deployment>,
  replicaSet: DeepReadonly<ReplicaSet>,
): RevisionReport[] {
  const { annotations } = replicaSet.metadata;
  const number = exactInteger(readRevision(annotations) ?? 0n);
  if (number === 0) return [];
  const entries = readRevisionEntries(annotations);
  const newest = entries.find(({ revision }) => revision === String(number));
  const older = entries.filter((entry) => entry !== newest);
  return [
    currentReport(deployment, replicaSet, number, newest),
    ...older.map((entry) => ({ ...earlierReport(replicaSet, entry), nowRevision: number })),
  ];
}

function currentReport(
  deployment: DeepReadonly<Deployment>,
  replicaSet: DeepReadonly<ReplicaSet>,
  revision: Int64,
  entry: RevisionEntry | undefined,
): RevisionReport {
  const { annotations, creationTimestamp } = replicaSet.metadata;
  const isCurrent = equalIgnoringHash(replicaSet.spec.template ?? {}, deployment.spec.template);
  const failure = readFailures(deployment.metadata.annotations ?? {}).find(
    (failed) => failed.replicaSet === replicaSet.metadata.name && failed.revision === String(revision),
  );
  const goodSince = annotations?.[GOOD_SINCE];
  const why = entry?.why ?? annotations?.[CHANGE_CAUSE];
  return {
    ...partsOf(replicaSet),
    ...(entry ? partsOfEntry(entry) : startOf(creationTimestamp)),
    revision,
    isCurrent,
    ...(why !== undefined && { why }),
    ...(goodSince !== undefined && { goodSince }),
    ...(failure && { cause: failure.cause }),
    approvals: readPosition(annotations ?? {})?.approvals ?? [],
    checks: readCheckResults(replicaSet),
    result: failure ? 'failed' : resultOf(entry, isCurrent, goodSince !== undefined),
  };
}

function startOf(creationTimestamp: string | undefined): Partial<RevisionReport> {
  return creationTimestamp === undefined ? {} : { startedAt: creationTimestamp };
}

function earlierReport(replicaSet: DeepReadonly<ReplicaSet>, entry: RevisionEntry): RevisionReport {
  return {
    ...partsOf(replicaSet),
    ...partsOfEntry(entry),
    revision: exactInteger(parseInt64(entry.revision) ?? 0n),
    isCurrent: false,
    pods: 0,
    approvals: [],
    checks: [],
    result: resultOf(entry, false, false),
  };
}

function partsOf({
  metadata,
  spec,
}: DeepReadonly<ReplicaSet>): Pick<RevisionReport, 'replicaSet' | 'pods' | 'images'> {
  return {
    replicaSet: metadata.name,
    pods: spec.replicas ?? 1,
    images: (spec.template?.spec?.containers ?? []).map(({ image = '' }) => image),
  };
}

function partsOfEntry({ at, by, ended, tool, trigger, user, what, why }: RevisionEntry) {
  const tookMs = ended && Date.parse(ended.at) - Date.parse(at);
  return {
    startedAt: at,
    trigger,
    ...(by !== undefined && { by }),
    ...(user !== undefined && { user }),
    ...(tool !== undefined && { tool }),
    ...(why !== undefined && { why }),
    ...(what !== undefined && { what }),
    ...(ended && { endedAt: ended.at }),
    ...(ended?.why !== undefined && { cause: ended.why }),
    ...(tookMs !== undefined && Number.isFinite(tookMs) && { tookMs: Math.max(0, tookMs) }),
  };
}

function resultOf(entry: RevisionEntry | undefined, isCurrent: boolean, isGood: boolean): RevisionResult {
  if (entry?.ended?.as === 'failed') return 'failed';
  if (isGood) return 'good';
  if (entry?.ended) return 'complete';
  if (!entry) return 'unknown';
  return isCurrent ? 'under way' : 'replaced';
}
