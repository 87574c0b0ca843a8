import { POD_TEMPLATE_HASH } from '@rollkeeper/controllers/shared';
import type { RolloutRules } from '@rollkeeper/controllers/deployment';
import {
  KUBERNETES_RULES,
  OWN_RULES,
  createDeploymentController,
  podTemplateHash,
} from '@rollkeeper/controllers/deployment';
import { ApiStatusError } from '@rollkeeper/client/api-client/api-status-error';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Deployment, Pod, ReplicaSet, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ConformanceFormat, RecordedCase, Json, JsonObject } from './conformance-format.js';
import { differences } from './differences.js';
import type { AttemptedWrite } from '../../src/testing/in-memory/in-memory-api.js';
import { InMemoryApi } from '../../src/testing/in-memory/in-memory-api.js';
import { isJsonObject, mapStrings } from './conformance-format.js';
import { ReconcilerRun } from '../../src/testing/in-memory/run-reconciler.js';
import { StandingClock } from '../../src/testing/in-memory/standing-clock.js';

interface DeploymentCase {
  /** RFC 3339. */
  readonly now: string;
  /** After this many creations, creating ReplicaSets fails. */
  readonly createFailsAfter?: number;
  readonly given: {
    readonly deployment: Deployment;
    readonly replicaSets?: readonly ReplicaSet[] | null;
    readonly pods?: readonly Pod[] | null;
  };
  readonly atRest: {
    readonly deployment: Json;
    readonly replicaSets?: Json;
    readonly events?: readonly string[] | null;
    /** The message, if the last run failed. */
    readonly error?: string;
    /** Seconds; only for Kubernetes 1.36, and only if it requeues by itself. 0: at once, rate-limited. */
    readonly requeueAfter?: number;
  };
}

/** A state, and what the genuine Deployment controller finally made of it. */
export const deploymentCases: ConformanceFormat = {
  name: 'deployment',
  matches: ({ given, atRest }) =>
    isJsonObject(given) && isJsonObject(given.deployment) && isJsonObject(atRest),
  run: (recorded) => runDeploymentCase(recorded, OWN_RULES),
  async deliberate(recorded) {
    const asKubernetes = await runDeploymentCase(recorded, KUBERNETES_RULES);
    return asKubernetes.length === 0 ? rulesThatDiffer(recorded) : [];
  },
};

/** The differences from the recording if the controller works by `rules`, one line each. */
export async function runDeploymentCase(recorded: RecordedCase, rules: RolloutRules): Promise<string[]> {
  const { atRest, ...rest } = recorded as unknown as DeploymentCase;
  const { given, now } = withOwnHashes(rest);
  const { api, run } = startRun({ ...rest, given }, rules);
  await run.toRest(given.deployment.metadata, { goesOn: true });
  const sizes = new Map(
    (given.replicaSets ?? []).map(({ metadata, spec }) => [metadata.name, spec.replicas ?? 1]),
  );
  const actual = normalise({ api, now, sizes });
  const events = run.notes.map(({ type, reason, message }) => actual.text(`${type} ${reason} ${message}`));
  const before = new Map([...sizes].map(([name, size]) => [actual.text(name), size]));
  const expected = (value: Json | undefined): Json | undefined => mapStrings(value, actual.recorded);
  const error = run.error === undefined ? undefined : actual.text(errorMessage(run.error));
  return [
    ...differences(expected(atRest.deployment), actual.deployment, 'deployment').filter(
      (line) => line !== NONE_TERMINATES || !isOld(recorded),
    ),
    ...differences(recordedReplicaSets(expected(atRest.replicaSets)), actual.replicaSets, 'replicaSets'),
    ...differences(
      netEvents(atRest.events?.map(actual.recorded) ?? [], before),
      netEvents(events, before),
      'events',
    ),
    ...differences(atRest.error, error, 'error'),
    ...requeueDifferences(atRest.requeueAfter, run.requeueAfterMs),
  ];
}

const NONE_TERMINATES = 'deployment.status.terminatingReplicas: expected nothing, got 0';

/**
 * Whether it was recorded from a controller that does not count terminating pods and whose Events only name the target
 * size.
 */
function isOld(recorded: RecordedCase): boolean {
  return !/terminatingReplicas|requeueAfter|Scaled \w+ replica set \S+ from/.test(stringifyJson(recorded));
}

/** How many runs of the reconciler a case takes until one writes nothing. */
export async function countSyncs(recorded: RecordedCase): Promise<number> {
  const testCase = recorded as unknown as DeploymentCase;
  const given = withOwnHashes(testCase).given;
  const { run } = startRun({ ...testCase, given }, KUBERNETES_RULES);
  return run.toRest(given.deployment.metadata, { goesOn: true });
}

/** Our rules that individually change the result. */
async function rulesThatDiffer(recorded: RecordedCase): Promise<string[]> {
  const names = Object.keys(OWN_RULES) as (keyof RolloutRules)[];
  const differing: string[] = [];
  for (const name of names) {
    const found = await runDeploymentCase(recorded, { ...KUBERNETES_RULES, [name]: true });
    if (found.length > 0) differing.push(name);
  }
  return differing.length > 0 ? differing : ['several together'];
}

/** Immediately, as the queue does for a failing key. */
const SOON_MS = 2000;

/** A recording of 1.20 does not contain the requeue time. */
function requeueDifferences(expected: number | undefined, actualMs: number | undefined): string[] {
  if (expected === undefined || (expected === 0 && (actualMs ?? Infinity) <= SOON_MS)) return [];
  return differences(expected, actualMs === undefined ? undefined : actualMs / 1000, 'requeueAfter');
}

function startRun(
  { createFailsAfter = Infinity, given, now }: Omit<DeploymentCase, 'atRest'>,
  rules: RolloutRules,
): { api: InMemoryApi; run: ReconcilerRun } {
  const api = new StampingApi(now, quotaOf(createFailsAfter));
  api.seed(Deployment, given.deployment);
  for (const replicaSet of given.replicaSets ?? []) api.seed(ReplicaSet, replicaSet);
  for (const pod of given.pods ?? []) api.seed(Pod, pod);
  const controller = createDeploymentController({ rules });
  return { api, run: new ReconcilerRun(controller, api, new StandingClock(Date.parse(now))) };
}

/** Sets the creation time of created objects, as a server does. */
class StampingApi extends InMemoryApi {
  constructor(
    private readonly creationTimestamp: string,
    intercept: (write: AttemptedWrite) => void,
  ) {
    super(intercept);
  }

  override async create<T extends KubernetesObject>(type: ResourceType, object: T): Promise<T> {
    const { creationTimestamp } = this;
    return super.create(type, { ...object, metadata: { ...object.metadata, creationTimestamp } });
  }
}

function quotaOf(limit: number): (write: AttemptedWrite) => void {
  let created = 0;
  return ({ verb }) => {
    if (verb !== 'create' || created++ < limit) return;
    throw new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'exceeded quota' });
  };
}

const HASH_TO_FILL_IN = /<hash:(none|\d+)>/g;

/** Fills in our own hashes where the recording leaves them open, so that the names are taken. */
function withOwnHashes<T extends Omit<DeploymentCase, 'atRest'>>(testCase: T): T {
  const { template } = testCase.given.deployment.spec;
  const fill = (text: string): string =>
    text.replace(HASH_TO_FILL_IN, (_, count: string) =>
      podTemplateHash(template, count === 'none' ? 0 : Number(count)),
    );
  return { ...testCase, given: mapStrings(testCase.given as unknown as Json, fill) as unknown as T['given'] };
}

interface Normalised {
  readonly deployment: Json | undefined;
  readonly replicaSets: Json[];
  /** Converts our text to the recordings' form. */
  text(text: string): string;
  /** The text of a recording without its open parts. */
  recorded(this: void, text: string): string;
}

/** Removes what cannot equal the recording: our own hash, and the time, which becomes `<now>`. */
function normalise(run: { api: InMemoryApi; now: string; sizes: ReadonlyMap<string, number> }): Normalised {
  const { api, now, sizes } = run;
  const replicaSets = api.all<ReplicaSet>(ReplicaSet);
  const [deployment] = api.all<Deployment>(Deployment);
  const created = replicaSets.filter(({ metadata }) => !sizes.has(metadata.name));
  const wanted = podTemplateHash(deployment?.spec.template ?? {}, deployment?.status?.collisionCount);
  // Includes ReplicaSets that could not be created.
  const hashes = [
    ...created.map(({ metadata }) => metadata.labels?.[POD_TEMPLATE_HASH] ?? metadata.name),
    ...(replicaSets.some(({ metadata }) => metadata.name.endsWith(`-${wanted}`)) ? [] : [wanted]),
  ];
  const text = (value: string): string => {
    if (value === now) return '<now>';
    return hashes.reduce((rest, hash) => rest.replaceAll(hash, '<hash>'), value);
  };
  const recorded = (value: string): string =>
    value.replace(HASH_TO_FILL_IN, (_, count: string) =>
      podTemplateHash(deployment?.spec.template ?? {}, count === 'none' ? 0 : Number(count)),
    );
  const clean = (object: unknown, dropped: readonly string[]): Json | undefined =>
    mapStrings(withoutMetadata(object as JsonObject, dropped), text);
  return {
    deployment: clean(deployment, ['resourceVersion']),
    replicaSets: replicaSets
      .map((object) => clean(object, created.includes(object) ? OF_THE_SERVER : ['resourceVersion']) ?? null)
      .sort(byName),
    text,
    recorded,
  };
}

/** As recorded, without the server's additions to a ReplicaSet created in the run: some recordings have them. */
function recordedReplicaSets(recorded: Json | undefined): Json[] {
  const list = Array.isArray(recorded) ? (recorded as readonly JsonObject[]) : [];
  return list
    .map((object) => (nameOf(object).includes('<hash>') ? withoutServerFields(object) : object))
    .sort(byName);
}

function withoutServerFields(object: JsonObject): JsonObject {
  const { status: _status, ...rest } = withoutMetadata(object, OF_THE_SERVER);
  return rest;
}

const OF_THE_SERVER = ['uid', 'resourceVersion', 'creationTimestamp'];

function withoutMetadata(object: JsonObject, dropped: readonly string[]): JsonObject {
  if (!isJsonObject(object.metadata)) return object;
  const kept = Object.entries(object.metadata).filter(([name]) => !dropped.includes(name));
  return { ...object, metadata: Object.fromEntries(kept) };
}

function byName(a: Json, b: Json): number {
  return nameOf(a) < nameOf(b) ? -1 : 1;
}

function nameOf(object: Json): string {
  const metadata = isJsonObject(object) ? object.metadata : undefined;
  return isJsonObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
}

const SCALED = /^Normal ScalingReplicaSet Scaled (up|down) replica set (\S+) (?:from (-?\d+) )?to (-?\d+)$/;

/**
 * Merges scaling events: one event per ReplicaSet with its net change, after all others, by name. A controller that
 * takes fewer steps reports fewer intermediate sizes; everything else must be reported alike. An event that does not
 * start where the previous one ended is kept as it is; recordings of Kubernetes before 1.27 do not contain the start.
 * @param before the initial sizes; 0 for a ReplicaSet that is not in it
 */
function netEvents(events: readonly string[], before: ReadonlyMap<string, number>): string[] {
  const others: string[] = [];
  const sizes = new Map<string, number>();
  for (const event of events) {
    const [, direction, name = '', from, to] = SCALED.exec(event) ?? [];
    const size = sizes.get(name) ?? before.get(name) ?? 0;
    const goesOn = from === undefined || Number(from) === size;
    if (direction !== undefined && goesOn && (direction === 'up') === Number(to) > size)
      sizes.set(name, Number(to));
    else others.push(event);
  }
  const scaled = [...sizes].flatMap(([name, after]) => netEvent(name, before.get(name) ?? 0, after));
  return [...others, ...scaled.sort()];
}

function netEvent(name: string, before: number, after: number): string[] {
  if (before === after) return [];
  const direction = after > before ? 'up' : 'down';
  return [`Normal ScalingReplicaSet Scaled ${direction} replica set ${name} from ${before} to ${after}`];
}
