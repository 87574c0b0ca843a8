import { StorageConflictError } from '@rollkeeper/apiserver';
import type { Storage } from '@rollkeeper/apiserver';
import { InvalidOptionError, TimeoutError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { parseJson, sameJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** Everything in a cluster at one moment. Plain JSON, so it can be kept in a file. */
export interface TestClusterSnapshot {
  readonly version: 1;
  /** The cluster's time, RFC 3339 with milliseconds. */
  readonly time: string;
  readonly objects: readonly SnapshotObject[];
}

/** One object of a snapshot. */
export interface SnapshotObject {
  /** The store's name: `deployments.apps`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The object as JSON text, with exact integers. */
  readonly json: string;
}

/** Attempts to find a consistent state while there are constant writes. */
const ATTEMPTS = 100;

/** @throws TimeoutError if the store is never at rest for as long as reading everything takes */
export async function takeSnapshot(
  storage: Storage,
  resources: readonly string[],
  nowMs: number,
): Promise<TestClusterSnapshot> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await storage.currentRevision();
    const objects = (await Promise.all(resources.map((resource) => objectsOf(storage, resource)))).flat();
    if ((await storage.currentRevision()) === before)
      return { version: 1, time: new Date(nowMs).toISOString(), objects };
  }
  throw new TimeoutError(`the objects change all the time: no moment found in ${ATTEMPTS} attempts`);
}

async function objectsOf(storage: Storage, resource: string): Promise<SnapshotObject[]> {
  const { items } = await storage.list(resource);
  return items.map(({ object }) => {
    const { name, namespace = '' } = object.metadata;
    return { resource, namespace, name, json: stringifyJson(object) };
  });
}

/** @throws InvalidOptionError for what is no snapshot of ours */
export function assertSnapshot(snapshot: Partial<TestClusterSnapshot> | undefined): void {
  const { objects, time, version } = snapshot ?? {};
  if (version !== 1 || !Array.isArray(objects) || Number.isNaN(Date.parse(time ?? '')))
    throw new InvalidOptionError('snapshot', 'is no snapshot of a test cluster, version 1');
}

/**
 * Brings the store to the state of the snapshot, by writes that every watch sees. Revisions continue from the current
 * one: a revision never changes its meaning. Only the server itself may write in the meantime.
 */
export async function restoreSnapshot(
  storage: Storage,
  resources: readonly string[],
  snapshot: TestClusterSnapshot,
): Promise<void> {
  const wanted = new Map(snapshot.objects.map((each) => [keyOf(each), each]));
  for (const resource of resources) {
    for (const { object, revision } of (await storage.list(resource)).items) {
      const { name, namespace = '' } = object.metadata;
      const key = { resource, namespace, name };
      const target = wanted.get(keyOf(key));
      const next = target && (parseJson(target.json) as KubernetesObject);
      // Another UID is another object, and its watchers must see the deletion.
      if (!next || next.metadata.uid !== object.metadata.uid) {
        await whileNewer(revision, (at) => storage.delete(key, at));
        continue;
      }
      wanted.delete(keyOf(key));
      if (!sameJson(withoutRevision(object), withoutRevision(next)))
        await whileNewer(revision, (at) => storage.update(key, next, at));
    }
  }
  for (const { json, name, namespace, resource } of wanted.values())
    await storage.create({ resource, namespace, name }, parseJson(json) as KubernetesObject);
}

/** The server's own writes, such as those of aggregated ClusterRoles, follow ours; the last of them is right again. */
async function whileNewer(revision: number, write: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = revision; ;) {
    try {
      await write(at);
      return;
    } catch (error) {
      if (!(error instanceof StorageConflictError)) throw error;
      at = error.current.revision;
    }
  }
}

function keyOf({ name, namespace, resource }: Omit<SnapshotObject, 'json'>): string {
  return `${resource}\0${namespace}\0${name}`;
}

function withoutRevision(object: KubernetesObject): KubernetesObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
