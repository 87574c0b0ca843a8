import { afterEach, expect, it } from 'vitest';
import { MemoryStorage } from '../../src/apiserver/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';

let server: RunningApiServer | undefined;
afterEach(() => server?.stop());

/** Starts a server, lets `work` be done there, and names the classes that one has which is started after it on the same store. */
async function classesAfter(work: (server: RunningApiServer) => Promise<unknown>): Promise<string[]> {
  const clock = new SystemClock();
  const first = await startApiServer({ storage: new MemoryStorage({ clock }) });
  await work(first);
  const { items } = await first.storage.list('storageclasses.storage.k8s.io');
  await first.stop();
  const storage = new MemoryStorage({ clock });
  for (const { object } of items)
    await storage.create(
      { resource: 'storageclasses.storage.k8s.io', namespace: '', name: object.metadata.name },
      object,
    );
  server = await startApiServer({ storage });
  const { body } = await server.call('GET', CLASSES);
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

it('a store without any class gets `standard`, also when somebody has deleted it', async () => {
  expect(await classesAfter(async () => {})).toEqual(['standard']);
  await server?.stop();
  expect(await classesAfter((first) => first.call('DELETE', `${CLASSES}/standard`))).toEqual(['standard']);
});

it('whoever has a class of their own in place of `standard` keeps it that way', async () => {
  const own = {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'own' } },
    provisioner: 'example.com/disks',
  };
  const classes = await classesAfter(async (first) => {
    expect((await first.call('POST', CLASSES, own)).status).toBe(201);
    expect((await first.call('DELETE', `${CLASSES}/standard`)).status).toBe(200);
  });
  expect(classes).toEqual(['own']);
});
