import { FakeClock, SeededRandom, toRfc3339 } from '../clock/index.js';
import { ReplicaSetReconciler, compileReplicaSetControllerOptions } from '../controllers/replicaset/index.js';
import { ORPHAN_INDEX, orphanIndex } from '../controllers/shared/index.js';
import { isCancellation } from '../errors/index.js';
import { OWNER_UID_INDEX } from '../informer/informer.js';
import type { DeepReadonly, KubernetesObject, Pod, ReplicaSet } from '../kubernetes/index.js';
import { keyOf } from '../kubernetes/index.js';
import { silentLogger } from '../logging/index.js';
import { ReplicaSetCaseApi } from './replicaset-api.js';
import { StaticLister } from './static-lister.js';

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
  const { replicaSet } = testCase.given;
  const pods = testCase.given.pods ?? [];
  const api = new ReplicaSetCaseApi(replicaSet, pods, testCase.createFailsAfter);
  const failed = await syncOnce(testCase, api);
  const { expect } = testCase;
  return [
    ...difference('created', expect.created, api.created.length),
    ...difference('deleted', expect.deleted, api.deleted.sort()),
    ...difference('adopted', expect.adopted, api.adopted.sort()),
    ...difference('released', expect.released, api.released.sort()),
    ...difference('status', normalise(expect.status), normalise(withoutNow(api.status, testCase.now))),
    ...difference('error', expect.error ?? false, failed),
  ];
}

/** Whether the run failed. */
async function syncOnce(testCase: ReplicaSetCase, client: ReplicaSetCaseApi): Promise<boolean> {
  const { replicaSet } = testCase.given;
  const byOwnerUid = (object: DeepReadonly<KubernetesObject>): string[] =>
    (object.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  const reconciler = new ReplicaSetReconciler({
    replicaSets: new StaticLister<ReplicaSet>([replicaSet], { [OWNER_UID_INDEX]: byOwnerUid }),
    pods: new StaticLister<Pod>(testCase.given.pods ?? [], {
      [OWNER_UID_INDEX]: byOwnerUid,
      [ORPHAN_INDEX]: orphanIndex,
    }),
    events: { record: () => undefined },
    clock: new FakeClock(Date.parse(testCase.now)),
    random: new SeededRandom(1),
    logger: silentLogger,
    // The recordings are of single runs, so the status has to follow in the run that changed the pods.
    options: compileReplicaSetControllerOptions({ statusAfterScaling: 'now' }),
  });
  const { namespace, name } = replicaSet.metadata;
  const intents = { current: undefined, store: async () => undefined, clear: () => undefined };
  try {
    await reconciler.reconcile(
      { namespace, name, key: keyOf(replicaSet.metadata) },
      { signal: new AbortController().signal, client, intents },
    );
    return false;
  } catch (error) {
    if (isCancellation(error) || error instanceof TypeError) throw error;
    return true;
  }
}

function difference(what: string, expected: unknown, actual: unknown): string[] {
  const [want, have] = [JSON.stringify(expected), JSON.stringify(actual)];
  return want === have ? [] : [`${what}: expected ${want}, got ${have}`];
}

/** The time of the run as the recordings write it. */
function withoutNow(status: unknown, now: string): unknown {
  const text = JSON.stringify(status ?? {});
  return JSON.parse(text.replaceAll(toRfc3339(Date.parse(now)), '<now>')) as unknown;
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
  return (
    value === null || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}
