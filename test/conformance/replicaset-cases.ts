import { ApiStatusError } from '@rollkeeper/client/api-client/api-status-error';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ReplicaSetControllerOptions } from '../../src/controllers/replicaset/index.js';
import { createReplicaSetController } from '../../src/controllers/replicaset/index.js';
import { createReplicationControllerController } from '../../src/controllers/replicationcontroller/replicationcontroller.js';
import { ReplicationController, typeMeta } from '@rollkeeper/runtime';
import type { ControllerDefinition, Kind } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import {
  Pod,
  ReplicaSet,
  controllerOf,
  isControlledBy,
  isEmptySelector,
  parseJson,
  stringifyJson,
  tryCompileLabelSelector,
} from '@rollkeeper/machinery/kubernetes';
import type { AttemptedWrite } from '../../src/testing/in-memory/in-memory-api.js';
import { InMemoryApi } from '../../src/testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../src/testing/in-memory/run-reconciler.js';
import { StandingClock } from '../../src/testing/in-memory/standing-clock.js';

/** One line of a recording of the ReplicaSet controller: a state, and what one run made of it. */
export interface ReplicaSetCase {
  readonly id: string;
  /** RFC 3339. */
  readonly now: string;
  readonly createFailsAfter?: number;
  readonly given: {
    readonly replicaSet: DeepReadonly<ReplicaSet>;
    readonly pods?: readonly DeepReadonly<Pod>[] | null;
    /** Other ReplicaSets in the store. */
    readonly siblings?: readonly DeepReadonly<ReplicaSet>[];
  };
  readonly expect: {
    readonly created: number;
    readonly deleted: readonly string[];
    readonly adopted: readonly string[];
    readonly released: readonly string[];
    readonly status: unknown;
    readonly error?: boolean;
    /** Sorted; only for Kubernetes 1.36, as is everything below. */
    readonly events?: readonly string[];
    readonly message?: string;
    /** Number of attempted creations, if some failed. */
    readonly tried?: number;
    /** Seconds. */
    readonly requeueAfter?: number;
  };
}

/** Whether a line has this format, judged by its fields. */
export function isReplicaSetCase(line: unknown): line is ReplicaSetCase {
  if (typeof line !== 'object' || line === null) return false;
  const { given } = line as { given?: { replicaSet?: unknown } };
  return given?.replicaSet !== undefined;
}

/** A kind of controllers that the recordings hold for. */
interface Recorded {
  readonly kind: Kind;
  readonly create: (options: ReplicaSetControllerOptions) => ControllerDefinition;
  /** A recorded ReplicaSet as an object of the kind. */
  readonly of: (replicaSet: ReplicaSet) => KubernetesObject;
}

const AS_REPLICA_SET: Recorded = {
  kind: ReplicaSet,
  create: createReplicaSetController,
  of: (replicaSet) => replicaSet,
};

/** ReplicationControllers follow the same rules: the genuine controller of both is one. */
export const AS_REPLICATION_CONTROLLER: Recorded = {
  kind: ReplicationController,
  create: createReplicationControllerController,
  of: ({ spec: { selector, ...spec }, ...object }) =>
    ({
      ...object,
      ...typeMeta(ReplicationController),
      spec: { ...spec, selector: selector.matchLabels },
    }) as KubernetesObject,
};

/** Whether a ReplicationController can be in the state: its selector has no expressions, and it counts no terminating pods. */
export function isForReplicationControllers({
  given: { replicaSet, siblings = [] },
}: ReplicaSetCase): boolean {
  return [replicaSet, ...siblings].every(({ spec }) => (spec.selector.matchExpressions ?? []).length === 0);
}

/**
 * Runs the real reconciler once on the case's state, with the clock fixed at `now`.
 * @returns the differences from the recording, one line each; none if it passed
 */
export async function runReplicaSetCase(
  testCase: ReplicaSetCase,
  recorded: Recorded = AS_REPLICA_SET,
): Promise<string[]> {
  const { expect, given, now } = testCase;
  const quota = new Quota(testCase.createFailsAfter ?? Infinity);
  const api = new InMemoryApi((write) => quota.check(write));
  const seed = (each: DeepReadonly<ReplicaSet>) =>
    api.seed(recorded.kind, recorded.of(structuredClone(each) as ReplicaSet));
  const replicaSet = seed(given.replicaSet);
  for (const sibling of given.siblings ?? []) seed(sibling);
  for (const pod of given.pods ?? []) api.seed(Pod, ownedBy(recorded.kind, structuredClone(pod) as Pod));
  // The recordings are of single runs, so the status has to follow in the run that changed the pods. Kubernetes replaces
  // pods that die at once, which is a fault that ours does not have.
  const controller = recorded.create({ statusAfterScaling: 'now', failureBackoff: false });
  const { error, events, requeueAfterMs } = await syncOnce(controller, replicaSet, api, now);
  const written = (verb: AttemptedWrite['verb']): string[] =>
    api.writes
      .filter((write) => write.verb === verb && write.type === Pod)
      .map(({ ref }) => ref.name)
      .sort();
  const { status } = await api.get<ReplicaSet>(recorded.kind, replicaSet.metadata);
  return [
    ...podDifferences(expect, written, ownedPods(api, replicaSet)),
    ...difference('status', normalise(expect.status), normalise(withoutNow(status, now), expect.status)),
    ...difference('error', expect.error ?? false, error !== undefined),
    ...(expect.events
      ? differencesSince136(expect, written('create'), { error, events, requeueAfterMs, tried: quota.tried })
      : []),
  ];
}

function ownedPods(api: InMemoryApi, replicaSet: KubernetesObject): ReadonlySet<string> {
  const owned = api.all<Pod>(Pod).filter((pod) => isControlledBy(pod, replicaSet));
  return new Set(owned.map(({ metadata }) => metadata.name));
}

function podDifferences(
  expect: ReplicaSetCase['expect'],
  written: (verb: AttemptedWrite['verb']) => string[],
  owned: ReadonlySet<string>,
): string[] {
  const deleted = written('delete');
  const patched = written('patch');
  const isAdopted = (name: string): boolean => owned.has(name) || deleted.includes(name);
  return [
    ...difference('created', expect.created, written('create').length),
    ...difference('deleted', expect.deleted, deleted),
    ...difference('adopted', expect.adopted, patched.filter(isAdopted)),
    ...difference(
      'released',
      expect.released,
      patched.filter((name) => !isAdopted(name)),
    ),
  ];
}

/** The fields that the recordings of 1.36 have and older ones lack. */
function differencesSince136(
  expect: ReplicaSetCase['expect'],
  createdPods: readonly string[],
  {
    error,
    events,
    requeueAfterMs,
    tried,
  }: Pick<Awaited<ReturnType<typeof syncOnce>>, 'error' | 'events' | 'requeueAfterMs'> & {
    readonly tried: number;
  },
): string[] {
  const created = new Set(createdPods);
  const words = events.map((event) =>
    event.replace(/(?<=pod: )\S+$/, (name) => (created.has(name) ? '<pod>' : name)),
  );
  const requeueAfter = requeueAfterMs === undefined ? undefined : requeueAfterMs / 1000;
  return [
    ...difference('events', expect.events, words.sort()),
    ...difference('message', expect.message, error),
    ...(expect.tried === undefined ? [] : difference('tried', expect.tried, tried)),
    ...difference('requeueAfter', expect.requeueAfter, requeueAfter),
  ];
}

/** The rules of ours that explain a case's differences; none if it should not differ. */
export function rulesOf(testCase: ReplicaSetCase, differing: readonly string[]): string[] {
  if (cannotBe(testCase)) return ['impossible'];
  const onlyWaits = differing.every((line) => line.startsWith('requeueAfter:'));
  return onlyWaits && hasOddReadyTime(testCase) ? ['readyTime'] : [];
}

/** Whether a pod has been ready since a future or unknown time. */
function hasOddReadyTime({ given: { pods }, now }: ReplicaSetCase): boolean {
  return (pods ?? []).some((pod) =>
    pod.status?.conditions?.some(
      ({ lastTransitionTime, type }) =>
        type === 'Ready' && !(Date.parse(lastTransitionTime ?? '') <= Date.parse(now)),
    ),
  );
}

/** States that a server cannot have, which the genuine controller accepts. */
function cannotBe({ given: { pods, replicaSet } }: ReplicaSetCase): boolean {
  const { selector, template } = replicaSet.spec;
  const selects = tryCompileLabelSelector(selector);
  const isOdd = isEmptySelector(selector) || !selects?.(template?.metadata?.labels);
  const { uid } = replicaSet.metadata;
  return (
    isOdd ||
    (pods ?? []).some((pod) => {
      const controller = controllerOf(pod);
      return controller?.uid === uid && controller?.kind !== ReplicaSet.kind;
    })
  );
}

/** The pod, whose owners of the recorded kind are of `kind`. */
function ownedBy(kind: Kind, pod: Pod): Pod {
  const { ownerReferences } = pod.metadata;
  const owners = ownerReferences?.map((owner) =>
    owner.kind === ReplicaSet.kind ? { ...owner, ...typeMeta(kind) } : owner,
  );
  return {
    ...pod,
    metadata: { ...pod.metadata, ...(owners && { ownerReferences: owners }) },
  };
}

/** Refuses the creation of pods after the first `limit`. */
class Quota {
  tried = 0;

  constructor(private readonly limit: number) {}

  check({ verb }: AttemptedWrite): void {
    if (verb !== 'create' || this.tried++ < this.limit) return;
    throw new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'exceeded quota' });
  }
}

interface Outcome {
  readonly events: string[];
  /** The message, if the run failed. */
  readonly error?: string;
  readonly requeueAfterMs?: number;
}

async function syncOnce(
  controller: ControllerDefinition,
  replicaSet: KubernetesObject,
  api: InMemoryApi,
  now: string,
): Promise<Outcome> {
  const run = new ReconcilerRun(controller, api, new StandingClock(Date.parse(now)));
  const { namespace, name } = replicaSet.metadata;
  const events = (): string[] => run.notes.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  try {
    await run.once({ namespace, name });
    return { events: events(), requeueAfterMs: run.requeueAfterMs };
  } catch (error) {
    if (error instanceof ApiStatusError) return { events: events(), error: error.message };
    throw error;
  }
}

function difference(what: string, expected: unknown, actual: unknown): string[] {
  const [want, have] = [stringifyJson(expected ?? null), stringifyJson(actual ?? null)];
  return want === have ? [] : [`${what}: expected ${want}, got ${have}`];
}

/** Replaces the time of the run as the recordings do. */
function withoutNow(status: unknown, now: string): unknown {
  const text = stringifyJson(status ?? {});
  return parseJson(text.replaceAll(toRfc3339(Date.parse(now)), '<now>'));
}

/**
 * Sorts keys and drops what means nothing: absent, null, {}, [], and a count of 0, except `terminatingReplicas`, which
 * is omitted if the recording is of a controller without it.
 * @param recorded the recording, if `value` is ours
 */
function normalise(value: unknown, recorded: unknown = value): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => normalise(item));
  if (typeof value !== 'object' || value === null) return value;
  const has = (key: string): boolean =>
    typeof recorded === 'object' && recorded !== null && Object.hasOwn(recorded, key);
  const isTold = (key: string, field: unknown): boolean =>
    key === 'terminatingReplicas' ? has(key) : !isNothing(field);
  const entries = Object.entries(value)
    .filter(([key, field]) => isTold(key, field))
    .map(([key, field]) => [key, normalise(field)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isNothing(value: unknown): boolean {
  return value === null || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0);
}
