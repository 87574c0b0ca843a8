import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment, PodTemplateSpec, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Event,
  ReplicaSet,
  exactInteger,
  isControlledBy,
  stringifyJson,
  writableCopy,
} from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden } from '@rollkeeper/client/api-client';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import {
  RESTARTED_AT,
  changesOfTemplate,
  completed,
  trustInNames,
  CHANGE_CAUSE,
  foreseeRollback,
  readRevision,
  withoutHash,
} from '@rollkeeper/controllers/deployment';
import type { ChangeNote } from './change-note.js';
import { noteChange } from './change-note.js';
import { pastExperiments } from './experiment-history.js';
import { renderRevision, renderRevisions } from './render-history.js';
import type { RevisionDiff } from './revision-diff.js';
import { decideDiff, revisionsToCompare } from './revision-diff.js';
import type { RevisionReport } from './rollout-history.js';
import { rolloutHistory } from './rollout-history.js';
import { isSetTarget, readSetRollout, writeSet } from './set-target.js';
import type { ObjectEvent } from '../object-event.js';
import type { TimelineEntry } from './timeline.js';
import { decideTimeline } from './timeline.js';

/** A Deployment and its API; or a set, seen as a Deployment. */
export interface RolloutTarget {
  readonly client: ApiClient;
  readonly type: ResourceType;
  readonly deployment: Deployment;
}

/** The revisions that are kept, oldest first. */
export async function readHistory(target: RolloutTarget): Promise<readonly RevisionReport[]> {
  const replicaSets = await replicaSetsOf(target);
  return rolloutHistory(completed(target.deployment), replicaSets, await trustInNames(target.client));
}

/** The revisions as a table, or what is known of one, and its template. @throws UnsupportedError for an unknown one */
export async function renderHistory(
  target: RolloutTarget,
  { isWide, revision }: { readonly revision?: bigint; readonly isWide?: boolean } = {},
): Promise<string> {
  const replicaSets = await replicaSetsOf(target);
  const names = await trustInNames(target.client);
  const reports = rolloutHistory(completed(target.deployment), replicaSets, names);
  if (revision === undefined)
    return renderRevisions(reports, isWide, pastExperiments(target.deployment, replicaSets));
  const template = templateOf(target, replicaSets, revision);
  const report = reports.find((each) => BigInt(each.revision) === revision);
  return `${report ? `${renderRevision(report)}\n\n` : ''}${stringifyJson(template, 2)}`;
}

/**
 * The differences between two revisions, or between one and what the Deployment asks for.
 * @throws UnsupportedError for an unknown one
 */
export async function diffRevisions(
  target: RolloutTarget,
  from: bigint,
  to?: bigint,
): Promise<readonly TemplateChange[]> {
  const replicaSets = await replicaSetsOf(target);
  const before = templateOf(target, replicaSets, from);
  const after =
    to === undefined ? completed(target.deployment).spec.template : templateOf(target, replicaSets, to);
  return changesOfTemplate(before, after);
}

/**
 * The differences between two revisions, as people read them.
 * @param revisions none: the one before, with the one that runs; one: that one, with what runs; two: those
 * @throws UnsupportedError for an unknown one, or where there is only one
 */
export async function compareRevisions(
  target: RolloutTarget,
  revisions: readonly bigint[],
  options: { readonly showValues?: boolean } = {},
): Promise<RevisionDiff> {
  const replicaSets = await replicaSetsOf(target);
  const deployment = completed(target.deployment);
  const [from, to] = revisionsToCompare(rolloutHistory(deployment, replicaSets, 'claimed'), revisions);
  const before = templateOf(target, replicaSets, from);
  const after = to === undefined ? deployment.spec.template : templateOf(target, replicaSets, to);
  return {
    from: exactInteger(from),
    to: to === undefined ? 'live' : exactInteger(to),
    changes: decideDiff(before, after, options),
  };
}

/** The occurrences of the Deployment, oldest first. @param withEvents needs the right to list Events */
export async function readTimeline(
  target: RolloutTarget,
  { withEvents }: { readonly withEvents: boolean },
): Promise<readonly TimelineEntry[]> {
  const deployment = completed(target.deployment);
  const replicaSets = await replicaSetsOf(target);
  const uids = new Set([
    deployment.metadata.uid,
    ...replicaSets.filter((set) => isControlledBy(set, deployment)).map(({ metadata }) => metadata.uid),
  ]);
  const events = withEvents ? await eventsOf(target) : [];
  const names = await trustInNames(target.client);
  return decideTimeline({
    deployment,
    history: rolloutHistory(deployment, replicaSets, names),
    events: events.filter(({ involvedObject }) => uids.has(involvedObject?.uid)),
  });
}

/** A history without Events is better than none: many users who may read Deployments may not read those. */
async function eventsOf({ client, deployment }: RolloutTarget): Promise<readonly ObjectEvent[]> {
  try {
    return (await client.list<ObjectEvent>(Event, { namespace: deployment.metadata.namespace })).items;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

/** By a number that it has, or had before its template came back. */
function templateOf(
  { deployment }: RolloutTarget,
  replicaSets: readonly ReplicaSet[],
  revision: bigint,
): PodTemplateSpec {
  const earlier = rolloutHistory(completed(deployment), replicaSets, 'claimed').find(
    (each) => BigInt(each.revision) === revision,
  )?.nowRevision;
  const number = earlier === undefined ? revision : BigInt(earlier);
  const one = revisionsOf(deployment, replicaSets).find((each) => each.number === number);
  if (!one) throw new UnsupportedError(`there is no revision ${revision}`);
  return one.template;
}

/** A rollback, and what it changes. */
export interface Undo {
  readonly changes: readonly TemplateChange[];
  /** Carries it out. */
  apply(): Promise<void>;
}

/**
 * A rollback that is carried out only when asked to, so that what it changes can be looked at before.
 * @throws UnsupportedError if it is paused, or has no revision to go back to
 */
export async function prepareUndo(
  target: RolloutTarget,
  revision = 0n,
  note: ChangeNote = {},
): Promise<Undo> {
  const { client, deployment, type } = target;
  assertNotPaused(deployment, 'be rolled back');
  const wanted = rolledBack(deployment, await replicaSetsOf(target), revision);
  noteChange(wanted, 'undo', note);
  const changes = changesOfTemplate(completed(deployment).spec.template, completed(wanted).spec.template);
  const write = (): Promise<unknown> =>
    isSetTarget(target) ? writeSet(client, type, wanted) : client.update(type, wanted);
  return { changes, apply: async () => void (await write()) };
}

/** Replaces every pod, by a new annotation of the template. @throws UnsupportedError if it is paused */
export async function restartRollout(
  target: RolloutTarget,
  clock: Clock,
  note: ChangeNote = {},
): Promise<void> {
  const { client, deployment, type } = target;
  assertNotPaused(deployment, 'be restarted');
  const wanted = structuredClone(deployment);
  const { template } = wanted.spec;
  const annotations = { ...template.metadata?.annotations, [RESTARTED_AT]: toRfc3339(clock.now()) };
  template.metadata = { ...template.metadata, annotations };
  noteChange(wanted, 'restart', note);
  if (isSetTarget(target)) return writeSet(client, type, wanted);
  const body = {
    metadata: { annotations: wanted.metadata.annotations ?? {} },
    spec: { template: { metadata: { annotations } } },
  };
  await client.patch(type, deployment.metadata, { type: 'merge', body });
}

/** @throws UnsupportedError if it is so already */
export async function setPaused(target: RolloutTarget, paused: boolean): Promise<void> {
  const { client, deployment, type } = target;
  if (isSetTarget(target))
    throw new UnsupportedError(
      `${deployment.metadata.name} is a ${type.kind}, which has no pause: the annotation rollkeeper.dev/freeze holds its next rollout`,
    );
  if ((deployment.spec.paused ?? false) === paused)
    throw new UnsupportedError(`${deployment.metadata.name} is ${paused ? 'already' : 'not'} paused`);
  const body = { spec: { paused: paused || null } };
  await client.patch(type, deployment.metadata, { type: 'merge', body });
}

/** The versions of the target: its ReplicaSets, and of a set its revisions in that form. */
export async function replicaSetsOf(target: RolloutTarget): Promise<readonly ReplicaSet[]> {
  const { client, deployment } = target;
  const { namespace } = deployment.metadata;
  if (isSetTarget(target)) {
    const { replicaSets } = await readSetRollout(client, target.type, deployment.metadata);
    return replicaSets.map((set) => writableCopy<ReplicaSet>(set));
  }
  return (await client.list<ReplicaSet>(ReplicaSet, { namespace })).items;
}

function assertNotPaused({ metadata, spec }: Deployment, what: string): void {
  if (spec.paused)
    throw new UnsupportedError(`${metadata.name} is paused and cannot ${what}: resume it first`);
}

interface Revision {
  readonly number: bigint;
  readonly changeCause?: string;
  readonly template: PodTemplateSpec;
}

/** The revisions available for a rollback, oldest first. */
function revisionsOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): readonly Revision[] {
  return replicaSets
    .filter((replicaSet) => isControlledBy(replicaSet, deployment))
    .flatMap(({ metadata, spec }) => {
      const number = readRevision(metadata.annotations) ?? 0n;
      const changeCause = metadata.annotations?.[CHANGE_CAUSE];
      if (number === 0n) return [];
      const template = writableCopy<PodTemplateSpec>(withoutHash(spec.template ?? {}));
      return [{ number, changeCause, template }];
    })
    .sort((a, b) => (a.number < b.number ? -1 : 1));
}

/**
 * The Deployment with the template and annotations of an earlier revision.
 * @param revision 0n: the one before the newest
 * @throws UnsupportedError if there is no such revision, with the reason
 */
function rolledBack(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
  revision: bigint,
): Deployment {
  const owned = replicaSets.filter((replicaSet) => isControlledBy(replicaSet, deployment));
  const foreseen = foreseeRollback({ deployment: completed(deployment), replicaSets: owned }, revision);
  if ('refused' in foreseen) throw new UnsupportedError(foreseen.refused);
  const { annotations, template } = foreseen;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, template: writableCopy<PodTemplateSpec>(template) },
  };
}
