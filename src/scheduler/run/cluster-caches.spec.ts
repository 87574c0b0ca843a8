import { expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { REPLACES_PODS_OF, ReplicaSet, replacedOwners } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeListWatch } from '../../testing/fake-list-watch.js';
import { ClusterCaches } from './cluster-caches.js';

it('keeps of a ReplicaSet what the plug-ins read, the pods that its own ones replace included, and nothing else', async () => {
  const clock = new FakeClock();
  const client = new FakeListWatch<ReplicaSet>(ReplicaSet, clock);
  const selector = { matchLabels: { app: 'web' } };
  client.put('a', 'new', (set) => {
    set.metadata.annotations = { [REPLACES_PODS_OF]: 'old', note: 'long' };
    Object.assign(set, { spec: { replicas: 2, selector } });
  });
  client.put('a', 'other', (set) => {
    set.metadata.annotations = { note: 'long' };
    Object.assign(set, { spec: { replicas: 2, selector } });
  });
  const served = new Map([['apps/replicasets', ReplicaSet]] as const);
  const shared = { client, clock, random: new SeededRandom(1), logger: silentLogger };
  const caches = new ClusterCaches({ ...shared, served });
  const stopper = new AbortController();
  const running = caches.run(stopper.signal);
  await caches.settle(stopper.signal);
  const read = (name: string) => caches.get<ReplicaSet>('apps/replicasets', { namespace: 'a', name });
  expect(replacedOwners(read('new'))).toEqual(['old']);
  expect(read('new')?.metadata.annotations).toEqual({ [REPLACES_PODS_OF]: 'old' });
  expect(read('other')?.metadata).not.toHaveProperty('annotations');
  expect(read('new')?.spec).toEqual({ selector });
  stopper.abort();
  await running;
});
