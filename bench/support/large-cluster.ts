import { setImmediate as yieldToOthers, setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../src/machinery/clock/index.js';
import type { ResourceType } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  LimitRange,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  ResourceQuota,
  keyOf,
  shardHash,
} from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { LightApi } from './light-api.js';
import type { LightCollection, Stored } from './light-collection.js';
import { isRolledOut } from './rollout-world.js';
import { steadyCluster } from './steady-cluster.js';

/** A message to the process of a large cluster. */
export type LargeClusterTask =
  /** Puts the objects there; they come into caches by lists. */
  | { readonly do: 'fill'; readonly kind: FilledKind }
  /** Changes so many pods a second from now on; a share of these, 0 to 1, makes pods ready or not. */
  | { readonly do: 'churn'; readonly rate: number; readonly ready: number }
  /** Rolls a Deployment out, and answers once it is done. */
  | { readonly do: 'roll'; readonly index: number }
  | { readonly do: 'figures' };

export type FilledKind = 'Pod' | 'ReplicaSet' | 'Deployment';

/** The answer to every message. */
export interface LargeClusterFigures {
  readonly url: string;
  /** Pods that were changed by the churn. */
  readonly changes: number;
  /** Changes of Deployments and ReplicaSets. */
  readonly writes: number;
  readonly openWatches: number;
  /** Bytes that were sent to watches. */
  readonly watchBytes: number;
  /** Seconds that the last rollout took. */
  readonly rolledOutIn?: number;
}

const KINDS = [Deployment, LimitRange, Namespace, Node, Pod, ReplicaSet, ResourceQuota];
const TYPES: Readonly<Record<FilledKind, ResourceType>> = { Pod, ReplicaSet, Deployment };
const TICK_MS = 10;
/** A pod that is made not ready is ready again after this. */
const UNREADY_MS = 1000;
/** After so many objects others have their turn. */
const AT_ONCE = 5000;

/*
 * One process with a light API and a cluster of many namespaces, each with one Deployment that has rolled out, and with what changes its
 * pods: `NAMESPACES PODS`, pods of each Deployment. It is asked by messages, and answers each with its figures.
 */

const [namespaces = 0, podsEach = 0] = process.argv.slice(2).map(Number);
const api = await LightApi.start({ kinds: KINDS });
const random = new SeededRandom(1);
const objects: Record<FilledKind, Stored[]> = { Pod: [], ReplicaSet: [], Deployment: [] };
const broken: { readonly key: string; readonly atMs: number; readonly status: unknown }[] = [];
let changes = 0;
let churn = { rate: 0, ready: 0 };

await prepare();
const changing = setInterval(change, TICK_MS);
let before = performance.now();
let owed = 0;
process.on('message', (task: LargeClusterTask) => void answer(task));
process.on('disconnect', () => {
  clearInterval(changing);
  process.exit();
});
tell();

async function answer(task: LargeClusterTask): Promise<void> {
  if (task.do === 'fill') await fill(task.kind);
  if (task.do === 'churn') churn = task;
  tell(task.do === 'roll' ? { rolledOutIn: await roll(task.index) } : {});
}

function tell(more: Partial<LargeClusterFigures> = {}): void {
  const { openWatches, url, watchBytes, writes } = api;
  const figures: LargeClusterFigures = { url, changes, writes, openWatches, watchBytes, ...more };
  process.send?.(figures);
}

/** Makes all objects. Pods of a set share what is alike, so that this process does not spend its time on memory. */
async function prepare(): Promise<void> {
  // Names that differ at their beginning, as hashes by FNV need it.
  const names = Array.from({ length: namespaces }, (_, index) => `n${shardHash(String(index)).toString(36)}`);
  let first: Stored | undefined;
  let made = 0;
  for await (const { object } of steadyCluster({
    ...{ deployments: namespaces, nodes: 100, pods: podsEach, namespaces: names },
  })) {
    const stored = object as Stored;
    stored.metadata.resourceVersion = '1';
    if (++made % AT_ONCE === 0) await yieldToOthers();
    if (stored.kind === 'Namespace') api.seed(Namespace, stored);
    else objects[stored.kind as FilledKind].push(stored);
    if (stored.kind === 'ReplicaSet') first = undefined;
    if (stored.kind !== 'Pod') continue;
    if (first) {
      const { labels, managedFields, ownerReferences } = first.metadata;
      Object.assign(stored.metadata, { labels, managedFields, ownerReferences });
      stored['spec'] = first['spec'];
    }
    first ??= stored;
  }
}

async function fill(kind: FilledKind): Promise<void> {
  for (const object of objects[kind]) api.seed(TYPES[kind], object);
  api.expire(TYPES[kind]);
}

/** Makes the changes that are due by now. */
function change(): void {
  const now = performance.now();
  owed += ((now - before) / 1000) * churn.rate;
  before = now;
  const pods = api.collectionOf(Pod);
  while (broken[0] && broken[0].atMs + UNREADY_MS <= now) {
    const { key, status } = broken.shift()!;
    changePod(pods, key, () => status);
  }
  for (; owed >= 1; owed--) {
    const isAboutReady = random.next() < churn.ready;
    const key = keyOf(objects.Pod[Math.floor(random.next() * objects.Pod.length)]!.metadata);
    if (!isAboutReady) {
      changePod(pods, key, (status) => ({ ...status, message: `change ${changes}` }));
    } else {
      const { status } = pods.objects.get(key) ?? {};
      if (!status || broken.some((each) => each.key === key)) continue;
      changePod(pods, key, notReady);
      broken.push({ key, atMs: now, status });
      // Its return is a change as well.
      owed--;
    }
  }
}

function changePod(pods: LightCollection, key: string, change: (status: object) => unknown): void {
  const pod = pods.objects.get(key);
  if (!pod) return;
  changes++;
  pods.store({ ...pod, status: change(pod.status as object) }, 'MODIFIED');
}

function notReady(status: { readonly conditions?: readonly { readonly type: string }[] }): unknown {
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '');
  const conditions = status.conditions?.map((condition) =>
    ['Ready', 'ContainersReady'].includes(condition.type)
      ? { ...condition, status: 'False', lastTransitionTime }
      : condition,
  );
  return { ...status, conditions };
}

/** Seconds from a new image until the Deployment has rolled out. */
async function roll(index: number): Promise<number> {
  const { metadata } = objects.Deployment[index % objects.Deployment.length]!;
  const image = `web:${changes}`;
  const beganMs = performance.now();
  api.change<Deployment>(Deployment, metadata, ({ spec }) => {
    spec.template.spec = { containers: [{ name: 'web', image }] };
  });
  const isDone = (): boolean =>
    isRolledOut(api.collectionOf(Deployment).objects.get(keyOf(metadata)) as unknown as Deployment, image);
  await waitFor(isDone, { timeoutMs: 120_000, intervalMs: 5, what: 'the rollout' });
  await sleep(0);
  return (performance.now() - beganMs) / 1000;
}
