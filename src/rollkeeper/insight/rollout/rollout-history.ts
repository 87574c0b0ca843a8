import type { DeepReadonly, Deployment, Int64, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy, parseInt64, exactInteger } from '@rollkeeper/machinery/kubernetes';
import type { CheckRun, RevisionEntry, Trigger } from '@rollkeeper/controllers/deployment';
import type { NameTrust } from '@rollkeeper/controllers/deployment';
import type { PastExperiment } from './experiment-history.js';
import { pastExperiments } from './experiment-history.js';
import {
  CHANGE_CAUSE,
  GOOD_SINCE,
  equalIgnoringHash,
  readCheckResults,
  readFailures,
  readPosition,
  readRevision,
  readRevisionEntries,
  shownName,
  whoAsked,
} from '@rollkeeper/controllers/deployment';

/** The fate of a revision. `unknown`: no history of it is kept, and nothing else says it. */
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
  /** The requester, for people: with the authenticated user, or as claimed. */
  readonly who?: string;
  /** The name that the request gives; `claimed by NAME`, unless the API server vouches for a user beside it. */
  readonly by?: string;
  /** The user that the API authenticated; `claimed by NAME`, unless the API server vouches for it. */
  readonly user?: string;
  /** The field manager. */
  readonly tool?: string;
  readonly trigger?: Trigger;
  readonly why?: string;
  /** The difference from the revision before. */
  readonly what?: string;
  readonly result: RevisionResult;
  /** The cause of a failure. */
  readonly cause?: string;
  readonly endedAt?: string;
  /** From its beginning to its end, milliseconds. */
  readonly tookMs?: number;
  readonly goodSince?: string;
  readonly approvals: readonly { readonly step: number; readonly by: string; readonly at: string }[];
  /** The results of its checks, with their last measurements. */
  readonly checks: readonly CheckRun[];
  /** The experiments in which it took part, oldest first. */
  readonly experiments: readonly PastExperiment[];
  readonly pods: number;
  readonly images: readonly string[];
}

/**
 * The revisions that are kept, oldest first: from the notes of a policy, and where there are none, from what Kubernetes keeps.
 * @param names whether the names in the notes can be believed
 */
export function rolloutHistory(
  deployment: DeepReadonly<Deployment>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
  names: NameTrust,
): readonly RevisionReport[] {
  const experiments = pastExperiments(deployment, replicaSets);
  return replicaSets
    .filter((replicaSet) => isControlledBy(replicaSet, deployment))
    .flatMap((replicaSet) => reportsOf(deployment, replicaSet))
    .map((report) => withTrust(report, names))
    .map((report) => ({
      ...report,
      experiments: experiments.filter(({ revisions }) => revisions.includes(String(report.revision))),
    }))
    .sort((a, b) => (a.revision < b.revision ? -1 : 1));
}

function withTrust(report: RevisionReport, names: NameTrust): RevisionReport {
  const { approvals, by, checks, trigger = 'change', user } = report;
  const who = whoAsked({ by, trigger, user }, names);
  const shown = (name: string): string => shownName(name, names);
  return {
    ...report,
    ...(who !== undefined && { who }),
    ...(by !== undefined && user === undefined && { by: who }),
    ...(by !== undefined && user !== undefined && { by: shown(by) }),
    ...(user !== undefined && { user: shown(user) }),
    approvals: approvals.map((approval) => ({ ...approval, by: shown(approval.by) })),
    checks: checks.map((run) => (run.by === undefined ? run : { ...run, by: shown(run.by) })),
  };
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
    experiments: [],
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
    experiments: [],
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
