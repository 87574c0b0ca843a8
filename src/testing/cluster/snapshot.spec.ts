import { describe, expect, it } from 'vitest';
import { MemoryStorage } from '../../apiserver/index.js';
import type { StorageKey } from '../../apiserver/index.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { assertSnapshot, restoreSnapshot, takeSnapshot } from './snapshot.js';

const RESOURCES = ['pods', 'namespaces'];
const keyOf = (resource: string, name: string, namespace = 'ns'): StorageKey => ({
  resource,
  namespace,
  name,
});
const pod = (name: string, uid: string, more: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', uid },
  ...more,
});

async function stateOf(storage: MemoryStorage) {
  const lists = await Promise.all(RESOURCES.map((resource) => storage.list(resource)));
  return lists.flatMap(({ items }) =>
    items.map(({ object }) => ({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } })),
  );
}

/** Three pods; then one is changed, one recreated under its name, one deleted, and one added. */
async function aStoreThatMovedOn() {
  const storage = new MemoryStorage();
  for (const name of ['same', 'changed', 'anew', 'gone'])
    await storage.create(keyOf('pods', name), pod(name, `${name}-1`));
  const snapshot = await takeSnapshot(storage, RESOURCES, Date.UTC(2030, 0, 1));
  const before = await stateOf(storage);
  const revisionOf = async (name: string) => (await storage.get(keyOf('pods', name)))?.revision ?? 0;
  await storage.update(
    keyOf('pods', 'changed'),
    pod('changed', 'changed-1', { spec: { a: 1 } }),
    await revisionOf('changed'),
  );
  await storage.delete(keyOf('pods', 'anew'), await revisionOf('anew'));
  await storage.create(keyOf('pods', 'anew'), pod('anew', 'anew-2'));
  await storage.delete(keyOf('pods', 'gone'), await revisionOf('gone'));
  await storage.create(keyOf('pods', 'new'), pod('new', 'new-1'));
  return { storage, snapshot, before };
}

describe('a snapshot', () => {
  it('brings back what was there, UIDs and all, and nothing else', async () => {
    const { before, snapshot, storage } = await aStoreThatMovedOn();
    await restoreSnapshot(storage, RESOURCES, snapshot);
    expect(await stateOf(storage)).toEqual(before);
  });

  it('is restored by changes that a watch sees, of what differs alone, at new revisions', async () => {
    const { snapshot, storage } = await aStoreThatMovedOn();
    const after = await storage.currentRevision();
    await restoreSnapshot(storage, RESOURCES, snapshot);
    const last = await storage.currentRevision();
    const seen: string[] = [];
    const over = new AbortController();
    for await (const events of storage.watch({ resource: 'pods', after }, over.signal))
      for (const event of events) {
        if (event.type === 'progress') continue;
        seen.push(`${event.type} ${event.object.metadata.uid}`);
        if (event.revision === last) over.abort();
      }
    expect(seen.sort()).toEqual([
      'created anew-1',
      'created gone-1',
      'deleted anew-2',
      'deleted new-1',
      'updated changed-1',
    ]);
  });

  it('goes through a file', async () => {
    const { before, snapshot } = await aStoreThatMovedOn();
    const other = new MemoryStorage();
    await restoreSnapshot(other, [], JSON.parse(JSON.stringify(snapshot)));
    expect(await stateOf(other)).toEqual(before);
    expect(snapshot.time).toBe('2030-01-01T00:00:00.000Z');
  });

  it('keeps integers that no double holds', async () => {
    const storage = new MemoryStorage();
    await storage.create(keyOf('pods', 'a'), pod('a', '1', { spec: { big: 9007199254740993n } }));
    const snapshot = await takeSnapshot(storage, RESOURCES, 0);
    const other = new MemoryStorage();
    await restoreSnapshot(other, [], snapshot);
    expect(await stateOf(other)).toMatchObject([{ spec: { big: 9007199254740993n } }]);
  });

  it.each([
    undefined,
    {},
    { version: 2, time: '2030-01-01T00:00:00Z', objects: [] },
    { version: 1, objects: [] },
  ])('is not %j', (value) =>
    expect(() => assertSnapshot(value as never)).toThrow(/^snapshot: is no snapshot/),
  );
});
