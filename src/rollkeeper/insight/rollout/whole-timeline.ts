import { renderDuration } from '@rollkeeper/machinery/clock';
import type { NameTrust, RecordEntry } from '@rollkeeper/controllers/deployment';
import {
  NAMESPACE_POLICIES,
  byTime,
  entriesOf,
  historyKeptForMs,
  readRecord,
  recordNameOf,
  shownAgain,
  trustInNames,
} from '@rollkeeper/controllers/deployment';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import { ConfigMap, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { RolloutTarget } from './rollout-verbs.js';
import { readTimeline } from './rollout-verbs.js';
import { isSetTarget } from './set-target.js';
import type { TimelineEntry } from './timeline.js';
import { timelineEntry } from './timeline.js';

/** The occurrences of a Deployment, from its kept history and from what is live. */
export interface Timeline {
  readonly namespace: string;
  readonly name: string;
  readonly api: string;
  /** How long its history is kept: `14d`. Absent: it asks for none beyond its revisions. */
  readonly keptFor?: string;
  /** The oldest moment that is known, RFC 3339. */
  readonly since?: string;
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** The things that could not be read, or are missing, one sentence each. */
  readonly notes: readonly string[];
}

interface TimelineQuery {
  readonly withEvents: boolean;
  /** Epoch milliseconds. @default everything */
  readonly sinceMs?: number | undefined;
  /** The user whose rights count, in the notes. @default 'You' */
  readonly reader?: string | undefined;
}

interface Kept {
  readonly entries: readonly TimelineEntry[];
  readonly keptForMs?: number | undefined;
  readonly notes: readonly string[];
}

/** Reads with the rights of the client. What it may not read, other than the Deployment's ReplicaSets, is left out and noted. */
export async function readWholeTimeline(target: RolloutTarget, query: TimelineQuery): Promise<Timeline> {
  const { sinceMs = Number.NEGATIVE_INFINITY, withEvents } = query;
  const names = await trustInNames(target.client);
  const [live, kept] = await Promise.all([
    readTimeline(target, { withEvents }),
    readKept(target, query, names),
  ]);
  const all = joinTimelines(kept.entries, live);
  const { name, namespace = '' } = target.deployment.metadata;
  const [first] = all;
  return {
    ...{ namespace, name, api: apiVersionOf(target.type) },
    ...(kept.keptForMs !== undefined && { keptFor: renderDuration(kept.keptForMs) }),
    ...(first && { since: first.at }),
    entries: all.filter(({ at, until }) => Date.parse(until ?? at) >= sinceMs),
    notes: kept.notes,
  };
}

/** The kept entries, and what is live beside them: of one thing the live entry, which says more. Oldest first. */
export function joinTimelines(
  kept: readonly TimelineEntry[],
  live: readonly TimelineEntry[],
): readonly TimelineEntry[] {
  const shown = new Set(live.map(keyOfEntry));
  const revisions = new Set(kept.flatMap(({ kind, revision }) => (kind === 'change' ? [revision] : [])));
  const summed = kept.findLast(({ kind }) => kind === 'summary')?.until ?? '';
  return [
    ...kept.filter((entry) => !shown.has(keyOfEntry(entry)) || entry.kind === 'change'),
    ...live.filter((entry) => !isInCoarser(entry, revisions, summed)),
  ].toSorted(byTime);
}

/** Whether a coarser entry already covers it. Shown twice, it would count twice. */
function isInCoarser(
  { at, kind, revision }: TimelineEntry,
  revisions: ReadonlySet<string | undefined>,
  summedUntil: string,
): boolean {
  if (kind !== 'asked' && kind !== 'ended' && kind !== 'failed') return false;
  return revisions.has(revision) || Date.parse(at) < Date.parse(summedUntil);
}

function keyOfEntry({ at, kind, revision }: TimelineEntry): string {
  if (kind === 'created') return kind;
  const isOfRevision = kind === 'asked' || kind === 'ended' || kind === 'failed';
  return `${kind} ${revision ?? ''} ${isOfRevision && revision !== undefined ? '' : at}`;
}

async function readKept(
  { client, deployment, type }: RolloutTarget,
  { reader = 'You' }: TimelineQuery,
  names: NameTrust,
): Promise<Kept> {
  const { annotations, namespace = '', uid = '' } = deployment.metadata;
  const keptForMs = historyKeptForMs(annotations, await defaultsOf(client, namespace));
  if (isSetTarget({ type }))
    return {
      entries: [],
      notes:
        keptForMs === undefined
          ? []
          : [`No history of a ${type.kind} is kept: rollkeeper.dev/history is for Deployments.`],
    };
  const name = recordNameOf(uid);
  const shown = ({ by, ...entry }: RecordEntry): TimelineEntry =>
    timelineEntry({ ...entry, ...(by !== undefined && { by: shownAgain(by, names) }) });
  try {
    const configMap = await client.get<ConfigMap>(ConfigMap, { namespace, name });
    return { entries: entriesOf(readRecord(configMap)).map(shown), keptForMs, notes: [] };
  } catch (error) {
    if (isForbidden(error))
      return {
        ...{ entries: [], keptForMs },
        notes: [`${reader} may not get configmaps of ${namespace}: the kept history is not seen.`],
      };
    if (!isNotFound(error)) throw error;
    const missing =
      'Its history is to be kept, and nothing has been recorded yet: do the replicas run with --lasting-history?';
    return { entries: [], keptForMs, notes: keptForMs === undefined ? [] : [missing] };
  }
}

/** Many users who may read a Deployment may not read its Namespace. */
async function defaultsOf(
  client: RolloutTarget['client'],
  namespace: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return (await client.get<KubernetesObject>(NAMESPACE_POLICIES, { name: namespace })).metadata.annotations;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
