import { expect, it } from 'vitest';
import { MemoryStorage } from '../../apiserver/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { observedStorage } from './observed-storage.js';

const keyOf = (resource: string) => ({ resource, namespace: 'default', name: 'a' });
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };

it('a replacement of everything is reported for every resource that has objects before or after', async () => {
  const told: (readonly [string, number])[] = [];
  const storage = observedStorage(new MemoryStorage({ clock: new FakeClock() }), (...write) =>
    told.push(write),
  );
  const first = await storage.create(keyOf('configmaps'), object);
  async function* records() {
    yield { key: keyOf('secrets'), object: { ...object, kind: 'Secret' } };
  }
  const revision = await storage.replaceAll(records());
  expect(told).toEqual([
    ['configmaps', first.revision],
    ['configmaps', revision],
    ['secrets', revision],
  ]);
});
