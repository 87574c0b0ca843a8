import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { readJson, shortenedTo } from '../../shared/index.js';
import { REVISION } from '../kubernetes/annotations.js';
import { replicasOf } from '../kubernetes/limits.js';
import { readRevisionEntries, whoAsked } from '../policies/history/history.js';
import type { RevisionEntry } from '../policies/history/history.js';
import { GOOD_SINCE } from '../policies/common/names.js';
import { SCALED_BY } from '../policies/history/settings.js';
import type { NameTrust } from '../policies/common/requester.js';
import { shownName } from '../policies/common/requester.js';
import type { SizeStep } from '../policies/history/size-steps.js';
import { readSizeSteps } from '../policies/history/size-steps.js';
import { readPosition } from '../policies/common/position.js';
import { outsideExperimentFacts, stepExperimentFacts } from './experiment-facts.js';
import type { RecordState } from './deployment-record.js';
import type { FieldWriter } from './means.js';
import { meansOf, meansOfRevision } from './means.js';
import type { RecordEntry } from './record-entry.js';
import { byTime } from './record-entry.js';

/** A Deployment as it is now. */
export interface RecordedView {
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The ReplicaSets that keep experiments outside of rollouts in which it took part. @default none */
  readonly experiments?: readonly DeepReadonly<ReplicaSet>[];
  /** The manager that wrote its size last. @default unknown */
  readonly sizeWriter?: FieldWriter | undefined;
  /** RFC 3339. */
  readonly now: string;
  /** Whether names in annotations can be believed. */
  readonly names: NameTrust;
}

export interface NewEntries {
  /** In order of time. */
  readonly entries: readonly RecordEntry[];
  readonly state: RecordState;
}

/** The number of the newest facts that are read of an object: by default 11 ReplicaSets show some 80 facts. */
const MOST_FACTS = 200;
/**
 * The number of facts and ReplicaSets that are remembered although they are no longer shown, in case a cache is behind.
 */
const MOST_SEEN = 300;
const MOST_SETS = 30;
const LONGEST_NAME = 300;

interface Fact {
  /** Identifies it for ever. */
  readonly key: string;
  readonly entry: RecordEntry;
}

/**
 * The entries for what has happened since the last look. It compares states and trusts no events: a look after a crash,
 * or by another replica, finds what is missing, and a repeated one finds nothing.
 */
export function decideEntries(state: RecordState, view: RecordedView): NewEntries {
  const shown = factsOf(view).toSorted((a, b) => byTime(a.entry, b.entry));
  const facts = shown.slice(-MOST_FACTS);
  const seen = new Set(state.seen);
  const entries = [
    ...facts.filter(({ key }) => !seen.has(key)).map(({ entry }) => entry),
    ...sizedEntries(state, view),
    ...askedOf(state, view),
  ];
  return {
    entries: entries.toSorted(byTime),
    state: {
      ...latestOf(state, view),
      seen: latestKeys(
        state.seen,
        facts.map(({ key }) => key),
      ),
      steps: stepsOf(state, view),
    },
  };
}

/** The newest keys, and the shown ones last: they are the last to be forgotten. */
function latestKeys(seen: readonly string[], shown: readonly string[]): readonly string[] {
  const current = new Set(shown);
  return [...seen.filter((key) => !current.has(key)), ...shown].slice(-MOST_SEEN);
}

/** The request that is in force, unless the cache is behind what was recorded. */
function latestOf(state: RecordState, { deployment }: RecordedView): Partial<RecordState> {
  const { generation = 0 } = deployment.metadata;
  const { generation: recorded = 0, paused, replicas } = state;
  if (generation < recorded) return { generation: recorded, replicas, paused };
  return {
    generation,
    replicas: replicasOf(deployment.spec),
    paused: deployment.spec.paused === true,
  };
}

function factsOf({ deployment, experiments = [], names, replicaSets }: RecordedView): readonly Fact[] {
  const { creationTimestamp: at, name } = deployment.metadata;
  const created: Fact[] = at === undefined ? [] : [{ key: 'c', entry: { at, kind: 'created' } }];
  return [
    ...created,
    ...replicaSets.flatMap((set) => [...factsOfReplicaSet(set, names), ...stepExperimentFacts(set)]),
    ...experiments.flatMap((keeper) => outsideExperimentFacts(keeper, name)),
  ];
}

function factsOfReplicaSet({ metadata }: DeepReadonly<ReplicaSet>, names: NameTrust): readonly Fact[] {
  const { annotations = {} } = metadata;
  const revision = annotations[REVISION];
  const goodSince = annotations[GOOD_SINCE];
  const approvals = revision === undefined ? [] : (readPosition(annotations)?.approvals ?? []);
  return [
    ...readRevisionEntries(annotations).flatMap((entry) => factsOfRevision(entry, names)),
    ...approvals.map(({ at, by, step }): Fact => ({
      key: `p${revision}.${step}@${at}`,
      entry: { at, kind: 'approved', revision, by: shownName(by, names), what: `step ${step}` },
    })),
    ...(revision === undefined || goodSince === undefined
      ? []
      : [{ key: `g${revision}@${goodSince}`, entry: { at: goodSince, kind: 'good', revision } as const }]),
  ];
}

function factsOfRevision(entry: RevisionEntry, names: NameTrust): readonly Fact[] {
  const { ended, revision } = entry;
  const asked: Fact = { key: `a${revision}`, entry: askedEntry(entry, names) };
  if (!ended) return [asked];
  const tookMs = Date.parse(ended.at) - Date.parse(entry.at);
  const end: RecordEntry = {
    at: ended.at,
    kind: ended.as === 'failed' ? 'failed' : 'ended',
    revision,
    result: ended.as,
    ...(tookMs >= 0 && { tookMs }),
    ...(ended.why !== undefined && { why: ended.why }),
  };
  return [asked, { key: `e${revision}${ended.as === 'failed' ? 'f' : 'c'}`, entry: end }];
}

function askedEntry(asked: RevisionEntry, names: NameTrust): RecordEntry {
  const { at, revision, tool, trigger, what, why } = asked;
  const who = whoAsked(asked, names);
  const means = meansOfRevision(trigger, tool);
  return {
    ...{ at, kind: 'asked', revision },
    ...(who !== undefined && { by: who }),
    ...(tool !== undefined && { with: tool }),
    ...(means !== undefined && { means }),
    ...(what !== undefined && { what }),
    ...(why !== undefined && { why }),
  };
}

/** The requests of people and autoscalers to the Deployment itself, besides its template. */
function askedOf(
  state: RecordState,
  { deployment, names, now, sizeWriter }: RecordedView,
): readonly RecordEntry[] {
  if ((deployment.metadata.generation ?? 0) < (state.generation ?? 0)) return [];
  const size = replicasOf(deployment.spec);
  const paused = deployment.spec.paused === true;
  const entries: RecordEntry[] = [];
  if (state.replicas !== undefined && state.replicas !== size) {
    const means = meansOf(sizeWriter);
    // An autoscaler's account says less than that it was one.
    const by = means === 'autoscaler' ? undefined : scalerOf(state, deployment);
    entries.push({
      at: sizeWriter?.time ?? now,
      kind: 'scaled',
      sizes: { from: state.replicas, to: size },
      ...(by !== undefined && { by: shownName(by, names) }),
      ...(sizeWriter && { with: sizeWriter.manager }),
      ...(means !== undefined && { means }),
    });
  }
  if (state.paused !== undefined && state.paused !== paused)
    entries.push({ at: now, kind: paused ? 'paused' : 'resumed' });
  return entries;
}

/**
 * The user whom the API has named for this size since the last record. A server that names no users, or not those who write the
 * Scale, leaves the name of an earlier change.
 */
function scalerOf(
  { generation: recorded = 0 }: RecordState,
  { metadata, spec }: RecordedView['deployment'],
): string | undefined {
  const noted = readJson(metadata.annotations?.[SCALED_BY]);
  if (!isJsonObject(noted)) return undefined;
  const { by, generation, to } = noted;
  const isNew = typeof generation === 'number' && generation > recorded;
  return typeof by === 'string' && isNew && to === replicasOf(spec)
    ? shortenedTo(LONGEST_NAME, by)
    : undefined;
}

function sizedEntries(state: RecordState, { replicaSets }: RecordedView): readonly RecordEntry[] {
  return replicaSets.flatMap(({ metadata: { annotations, name, uid = '' } }) =>
    readSizeSteps(annotations)
      .filter(({ n }) => n > (state.steps[uid] ?? 0))
      .map((step): RecordEntry => ({
        ...{ at: step.at, kind: 'sized', replicaSet: name },
        sizes: { from: step.from, to: step.to },
        sums: sumsOf(step),
      }))
      // Two in the same second stay in their order.
      .toReversed(),
  );
}

function sumsOf({ available, least, most, policy, total }: SizeStep): string {
  const sums = `${total} of at most ${most} pods; ${available} available of at least ${least}`;
  return policy === undefined ? sums : `${sums}; ${policy}`;
}

/** By UID: a ReplicaSet that is made again has its name, and counts from the beginning. */
function stepsOf({ steps }: RecordState, { replicaSets }: RecordedView): Readonly<Record<string, number>> {
  const shown = replicaSets.flatMap(({ metadata: { annotations, uid = '' } }) => {
    const n = Math.max(steps[uid] ?? 0, readSizeSteps(annotations)[0]?.n ?? 0);
    return n === 0 ? [] : [[uid, n] as const];
  });
  const current = new Set(shown.map(([uid]) => uid));
  const gone = Object.entries(steps).filter(([uid]) => !current.has(uid));
  return Object.fromEntries([...gone, ...shown].slice(-MOST_SETS));
}
