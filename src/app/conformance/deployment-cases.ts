import { POD_TEMPLATE_HASH } from '../../controllers/shared/index.js';
import type { ControllerDefinition } from '../../kit/controller/controller-definition.js';
import { createDeploymentController } from '../../controllers/deployment/index.js';
import type { Deployment, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../base/kubernetes/index.js';
import type { ConformanceFormat, RecordedCase, Json, JsonObject } from './conformance-format.js';
import { differences } from './differences.js';
import { InMemoryApi } from './in-memory-api.js';
import { isJsonObject, mapStrings } from './conformance-format.js';
import { ReconcilerRun } from './run-reconciler.js';
import { StandingClock } from './standing-clock.js';

interface DeploymentCase {
  readonly now: string;
  readonly given: {
    readonly deployment: Deployment;
    readonly replicaSets?: readonly ReplicaSet[] | null;
    readonly pods?: readonly Pod[] | null;
  };
  readonly atRest: {
    readonly deployment: Json;
    readonly replicaSets?: Json;
    readonly events?: readonly string[] | null;
  };
}

/** The recordings are of Kubernetes 1.20, its faults included. */
const definition = createDeploymentController({ asKubernetes120: true });

/** A state, and what the genuine Deployment controller made of it in the end. */
export const deploymentCases: ConformanceFormat = deploymentFormat(definition);

/** The format, with the given controller held against it. */
export function deploymentFormat(controller: ControllerDefinition): ConformanceFormat {
  return {
    name: 'deployment',
    matches: ({ given, atRest }) =>
      isJsonObject(given) && isJsonObject(given.deployment) && isJsonObject(atRest),
    run: (recorded) => runDeploymentCase(recorded as unknown as DeploymentCase, controller),
  };
}

/** How many runs of the reconciler a case takes until one writes nothing. */
export async function countSyncs(recorded: RecordedCase): Promise<number> {
  const { given, now } = recorded as unknown as DeploymentCase;
  const { run } = startRun(given, now, definition);
  return run.toRest(given.deployment.metadata);
}

async function runDeploymentCase(
  { now, given, atRest }: DeploymentCase,
  controller: ControllerDefinition,
): Promise<string[]> {
  const { api, run } = startRun(given, now, controller);
  await run.toRest(given.deployment.metadata);
  const sizes = new Map(
    (given.replicaSets ?? []).map(({ metadata, spec }) => [metadata.name, spec.replicas ?? 1]),
  );
  const actual = normalise({ api, now, sizes });
  const events = run.notes.map(({ type, reason, message }) => actual.text(`${type} ${reason} ${message}`));
  return [
    ...differences(atRest.deployment, actual.deployment, 'deployment'),
    ...differences(recordedReplicaSets(atRest.replicaSets), actual.replicaSets, 'replicaSets'),
    ...differences(netEvents(atRest.events ?? [], sizes), netEvents(events, sizes), 'events'),
  ];
}

function startRun(
  given: DeploymentCase['given'],
  now: string,
  controller: ControllerDefinition,
): { api: InMemoryApi; run: ReconcilerRun } {
  const api = new InMemoryApi();
  api.seed(DEPLOYMENTS, given.deployment);
  for (const replicaSet of given.replicaSets ?? []) api.seed(REPLICA_SETS, replicaSet);
  for (const pod of given.pods ?? []) api.seed(PODS, pod);
  return { api, run: new ReconcilerRun(controller, api, new StandingClock(Date.parse(now))) };
}

interface Normalised {
  readonly deployment: Json | undefined;
  readonly replicaSets: Json[];
  text(text: string): string;
}

/** Takes out what cannot be the same as in the recording: the hash is ours, the time is told as `<now>`. */
function normalise(run: { api: InMemoryApi; now: string; sizes: ReadonlyMap<string, number> }): Normalised {
  const { api, now, sizes } = run;
  const replicaSets = api.all<ReplicaSet>(REPLICA_SETS);
  const created = replicaSets.filter(({ metadata }) => !sizes.has(metadata.name));
  const hashes = created.map(({ metadata }) => metadata.labels?.[POD_TEMPLATE_HASH] ?? metadata.name);
  const text = (value: string): string => {
    if (value === now) return '<now>';
    return hashes.reduce((rest, hash) => rest.replaceAll(hash, '<hash>'), value);
  };
  const clean = (object: unknown, dropped: readonly string[]): Json | undefined =>
    mapStrings(withoutMetadata(object as JsonObject, dropped), text);
  return {
    deployment: clean(api.all(DEPLOYMENTS)[0], ['resourceVersion']),
    replicaSets: replicaSets
      .map((object) => clean(object, created.includes(object) ? OF_THE_SERVER : ['resourceVersion']) ?? null)
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    text,
  };
}

/**
 * As recorded, but for what the server adds to a ReplicaSet that was created in the run: some recordings have it.
 */
function recordedReplicaSets(recorded: Json | undefined): Json[] {
  const list = Array.isArray(recorded) ? (recorded as readonly JsonObject[]) : [];
  return list.map((object) => (nameOf(object).includes('<hash>') ? withoutServerFields(object) : object));
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

function nameOf(object: Json): string {
  const metadata = isJsonObject(object) ? object.metadata : undefined;
  return isJsonObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
}

const SCALED = /^Normal ScalingReplicaSet Scaled (?:up|down) replica set (\S+) to (-?\d+)$/;

/**
 * Events with those of scaling merged: for each ReplicaSet one that tells of its net change, after all others, by
 * name. Who takes fewer steps reports fewer sizes on the way; everything else must be reported alike.
 * @param before the sizes at the beginning; 0 for a ReplicaSet that is not in it
 */
function netEvents(events: readonly string[], before: ReadonlyMap<string, number>): string[] {
  const others = events.filter((event) => !SCALED.test(event));
  const sizes = new Map<string, number>();
  for (const event of events) {
    const [, name, size] = SCALED.exec(event) ?? [];
    if (name !== undefined) sizes.set(name, Number(size));
  }
  const scaled = [...sizes].flatMap(([name, after]) => netEvent(name, before.get(name) ?? 0, after));
  return [...others, ...scaled.sort()];
}

function netEvent(name: string, before: number, after: number): string[] {
  if (before === after) return [];
  const direction = after > before ? 'up' : 'down';
  return [`Normal ScalingReplicaSet Scaled ${direction} replica set ${name} to ${after}`];
}
