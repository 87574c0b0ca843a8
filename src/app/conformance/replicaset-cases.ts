import { ApiStatusError } from '../../kit/api-client/api-status-error.js';
import { toRfc3339 } from '../../base/clock/index.js';
import { createReplicaSetController } from '../../controllers/replicaset/index.js';
import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { isControlledBy, parseJson, PODS, REPLICA_SETS, stringifyJson } from '../../base/kubernetes/index.js';
import type { AttemptedWrite } from './in-memory-api.js';
import { InMemoryApi } from './in-memory-api.js';
import { ReconcilerRun } from './run-reconciler.js';
import { StandingClock } from './standing-clock.js';

/** One line of a recording of the ReplicaSet controller: a state, and what one run made of it. */
export interface ReplicaSetCase {
  readonly id: string;
  /** RFC 3339. */
  readonly now: string;
  readonly createFailsAfter?: number;
  readonly given: {
    readonly replicaSet: DeepReadonly<ReplicaSet>;
    readonly pods?: readonly DeepReadonly<Pod>[] | null;
  };
  readonly expect: {
    readonly created: number;
    readonly deleted: readonly string[];
    readonly adopted: readonly string[];
    readonly released: readonly string[];
    readonly status: unknown;
    readonly error?: boolean;
  };
}

/** Tells a line of this format from one of another by its fields. */
export function isReplicaSetCase(line: unknown): line is ReplicaSetCase {
  if (typeof line !== 'object' || line === null) return false;
  const { given } = line as { given?: { replicaSet?: unknown } };
  return given?.replicaSet !== undefined;
}

/**
 * Runs the real reconciler once on the case's state, its clock standing at `now`.
 * @returns the differences from what was recorded, one line each; none when it passed
 */
export async function runReplicaSetCase(testCase: ReplicaSetCase): Promise<string[]> {
  const { expect, given, now } = testCase;
  const api = new InMemoryApi(quotaOf(testCase.createFailsAfter ?? Infinity));
  const replicaSet = api.seed(REPLICA_SETS, structuredClone(given.replicaSet) as ReplicaSet);
  for (const pod of given.pods ?? []) api.seed(PODS, structuredClone(pod) as Pod);
  const failed = await syncOnce(replicaSet, api, now);
  const written = (verb: AttemptedWrite['verb']): string[] =>
    api.writes
      .filter((write) => write.verb === verb && write.type === PODS)
      .map(({ ref }) => ref.name)
      .sort();
  const owned = new Set(
    api
      .all<Pod>(PODS)
      .filter((pod) => isControlledBy(pod, replicaSet))
      .map(({ metadata }) => metadata.name),
  );
  const patched = written('patch');
  const { status } = await api.get<ReplicaSet>(REPLICA_SETS, replicaSet.metadata);
  return [
    ...difference('created', expect.created, written('create').length),
    ...difference('deleted', expect.deleted, written('delete')),
    ...difference(
      'adopted',
      expect.adopted,
      patched.filter((name) => owned.has(name) || written('delete').includes(name)),
    ),
    ...difference(
      'released',
      expect.released,
      patched.filter((name) => !owned.has(name) && !written('delete').includes(name)),
    ),
    ...difference('status', normalise(expect.status), normalise(withoutNow(status, now))),
    ...difference('error', expect.error ?? false, failed),
  ];
}

/** Refuses the creation of pods after the first `limit`. */
function quotaOf(limit: number): (write: AttemptedWrite) => void {
  let created = 0;
  return ({ verb }) => {
    if (verb !== 'create' || created++ < limit) return;
    throw new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'exceeded quota' });
  };
}

/** Whether the run failed. */
async function syncOnce(replicaSet: ReplicaSet, api: InMemoryApi, now: string): Promise<boolean> {
  // The recordings are of single runs, so the status has to follow in the run that changed the pods.
  const controller = createReplicaSetController({ statusAfterScaling: 'now' });
  const run = new ReconcilerRun(controller, api, new StandingClock(Date.parse(now)));
  const { namespace, name } = replicaSet.metadata;
  try {
    await run.once({ namespace, name });
    return false;
  } catch (error) {
    if (error instanceof ApiStatusError) return true;
    throw error;
  }
}

function difference(what: string, expected: unknown, actual: unknown): string[] {
  const [want, have] = [stringifyJson(expected), stringifyJson(actual)];
  return want === have ? [] : [`${what}: expected ${want}, got ${have}`];
}

/** The time of the run as the recordings write it. */
function withoutNow(status: unknown, now: string): unknown {
  const text = stringifyJson(status ?? {});
  return parseJson(text.replaceAll(toRfc3339(Date.parse(now)), '<now>'));
}

/**
 * Sorts keys and drops what means nothing: absent, null, {}, [], and a count of 0. `terminatingReplicas` is left
 * out, since the recorded controller did not have it.
 */
function normalise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalise);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, field]) => key !== 'terminatingReplicas' && !isNothing(field))
    .map(([key, field]) => [key, normalise(field)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isNothing(value: unknown): boolean {
  return value === null || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0);
}
