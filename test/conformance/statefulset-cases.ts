import { errorMessage } from '@rollkeeper/machinery/errors';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type {
  KubernetesObject,
  ObjectRef,
  PodTemplateSpec,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import {
  Pod,
  isControlledBy,
  newControllerRef,
  qualifiedResource,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import { PersistentVolumeClaim, StatefulSet, typeMeta } from '@rollkeeper/runtime';
import { ControllerRevision, stableHash } from '@rollkeeper/controllers/shared';
import { statefulSetController } from '../../src/controllers/statefulset/statefulset-controller.js';
import type { WriteOptions } from '@rollkeeper/client/api-client/api-client';
import type { ConformanceFormat, Json, JsonObject } from './conformance-format.js';
import { isJsonObject, mapStrings } from './conformance-format.js';
import { differences } from './differences.js';
import { InMemoryApi } from '../../src/testing/in-memory/in-memory-api.js';
import { ReconcilerRun, wholeSeconds } from '../../src/testing/in-memory/run-reconciler.js';
import { StandingClock } from '../../src/testing/in-memory/standing-clock.js';

interface GivenRevision {
  readonly template: PodTemplateSpec;
  readonly revision: number;
  /** Seconds. */
  readonly age: number;
  readonly orphan?: boolean;
}

interface StatefulSetCase {
  readonly now: string;
  readonly given: {
    readonly statefulSet: JsonObject;
    readonly pods?: readonly JsonObject[] | null;
    readonly claims?: readonly JsonObject[] | null;
    readonly revisions?: readonly GivenRevision[] | null;
  };
  readonly atRest: {
    readonly statefulSet: Json;
    readonly pods?: Json;
    readonly claims?: Json;
    readonly revisions: Json;
    readonly events: Json;
    readonly error?: string;
    readonly requeueAfter?: number;
  };
}

/** A state, and what the genuine StatefulSet controller finally made of it. */
export const statefulSetCases: ConformanceFormat = {
  name: 'statefulset',
  matches: ({ atRest, given }) =>
    isJsonObject(given) && isJsonObject(given.statefulSet) && isJsonObject(atRest),
  run: (recorded) => runStatefulSetCase(recorded as unknown as StatefulSetCase),
};

/** Created objects have the phase that they have before a node or a binder has seen them. */
class PendingApi extends InMemoryApi {
  override create<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options?: WriteOptions,
  ): Promise<T> {
    const isPending = [Pod, PersistentVolumeClaim].some(
      (each) => qualifiedResource(each) === qualifiedResource(type),
    );
    return super.create(type, isPending ? { ...object, status: { phase: 'Pending' } } : object, options);
  }
}

/** After this many runs it will not settle. */
const MAX_RUNS = 50;

async function runStatefulSetCase({ atRest, given, now }: StatefulSetCase): Promise<string[]> {
  const nowMs = Date.parse(now);
  const api = new PendingApi();
  const names = new RevisionNames(given);
  const set = api.seed(StatefulSet, names.filledIn(given.statefulSet) as unknown as StatefulSet);
  for (const pod of given.pods ?? []) api.seed(Pod, names.filledIn(pod) as unknown as Pod);
  for (const claim of given.claims ?? [])
    api.seed(PersistentVolumeClaim, names.filledIn(claim) as unknown as PersistentVolumeClaim);
  given.revisions?.forEach((revision, index) =>
    api.seed(ControllerRevision, aRevision(set, revision, names.given[index] ?? '', nowMs)),
  );
  const run = new ReconcilerRun(statefulSetController, api, new StandingClock(nowMs));
  const end = await toRest(run, api, set.metadata);
  const text = names.takenOut(api, toRfc3339(nowMs));
  const all = (type: ResourceType): Json[] =>
    api.all(type).map((object) => mapStrings(asRecorded(object), text) ?? null);
  const actual = {
    ...end,
    statefulSet: all(StatefulSet)[0],
    pods: all(Pod),
    claims: all(PersistentVolumeClaim),
    revisions: api.all<ControllerRevision>(ControllerRevision).map((revision) =>
      mapStrings(
        {
          name: revision.metadata.name,
          revision: Number(revision.revision),
          ...(isControlledBy(revision, set) && { owner: set.metadata.name }),
          data: revision.data as unknown as JsonObject,
        },
        text,
      ),
    ),
    events: run.notes.map(({ message, reason, type }) => text(`${type} ${reason} ${message}`)),
  };
  return differences(comparable(atRest), comparable(actual as unknown as JsonObject));
}

interface End {
  readonly error?: string;
  readonly requeueAfter?: number;
}

/** Runs until one writes nothing, whether it fails or not. */
async function toRest(run: ReconcilerRun, api: InMemoryApi, ref: ObjectRef): Promise<End> {
  for (let runs = 1; runs <= MAX_RUNS; runs++) {
    const before = api.writes.length;
    const end = await run.once(ref).then(
      ({ requeueAfterMs }): End => ({ requeueAfter: wholeSeconds(requeueAfterMs) }),
      (error: unknown): End => ({ error: errorMessage(error) }),
    );
    if (api.writes.length === before) return end;
  }
  throw new Error(`did not come to rest in ${MAX_RUNS} runs`);
}

function aRevision(
  set: StatefulSet,
  { age, orphan, revision, template }: GivenRevision,
  name: string,
  nowMs: number,
): ControllerRevision {
  return {
    ...(typeMeta(ControllerRevision) as Pick<ControllerRevision, 'apiVersion' | 'kind'>),
    metadata: {
      name,
      namespace: set.metadata.namespace,
      uid: `uid-of-${name}`,
      labels: template.metadata?.labels,
      creationTimestamp: toRfc3339(nowMs - age * 1000),
      ...(!orphan && { ownerReferences: [newControllerRef({ ...set, ...typeMeta(StatefulSet) })] }),
    },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision,
  };
}

/** Revision names are our own: `<rev:0>` and the like replace them. */
class RevisionNames {
  readonly given: readonly string[];

  constructor({ revisions, statefulSet }: StatefulSetCase['given']) {
    const { name } = statefulSet.metadata as { name: string };
    this.given = (revisions ?? []).map(({ template }) => `${name}-${stableHash(template)}`);
  }

  filledIn(object: JsonObject): Json | undefined {
    return mapStrings(object, (text) => {
      const [, index] = /^<rev:(\d+)>$/.exec(text) ?? [];
      return index === undefined ? text : (this.given[Number(index)] ?? text);
    });
  }

  /** Restores the names in the recordings; others are revisions created in the run. */
  takenOut(api: InMemoryApi, now: string): (text: string) => string {
    const all = api.all(ControllerRevision).map(({ metadata }) => metadata.name);
    const standIns = new Map([
      ...all.map((name) => [name, '<rev:new>'] as const),
      ...this.given.map((name, index) => [name, `<rev:${index}>`] as const),
      [now, '<now>'] as const,
    ]);
    return (text) => standIns.get(text) ?? text;
  }
}

const OF_THE_SERVER = ['uid', 'creationTimestamp'];

/** Without the server's additions: its versions, and everything in an object created in the run. */
function asRecorded(object: KubernetesObject): JsonObject {
  const isCreated = object.metadata.uid?.startsWith('uid-of-created') === true;
  const dropped = ['resourceVersion', ...(isCreated ? OF_THE_SERVER : [])];
  const { apiVersion, kind, ...rest } = object as unknown as JsonObject;
  const metadata = Object.fromEntries(
    Object.entries(object.metadata as unknown as JsonObject).filter(([name]) => !dropped.includes(name)),
  );
  return { ...(isCreated ? {} : { apiVersion, kind }), ...rest, metadata };
}

/**
 * Orders Revisions and Events independently of names and concurrency; omits counts of 0, as the genuine type does for
 * some of them.
 */
function comparable(end: JsonObject): JsonObject {
  const nameOf = (value: Json): string =>
    stringifyJson(isJsonObject(value) ? [value.name, value.revision] : value);
  const inOrder = (list: Json | undefined): Json =>
    Array.isArray(list) ? [...(list as Json[])].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) : [];
  const set = end.statefulSet as JsonObject;
  const status = Object.fromEntries(
    Object.entries(isJsonObject(set.status) ? set.status : {}).filter(([, value]) => value !== 0),
  );
  return {
    ...end,
    events: inOrder(end.events),
    revisions: inOrder(end.revisions),
    statefulSet: { ...set, status },
  };
}
