import { describe, expect, it } from 'vitest';
import { FakeClock } from '../machinery/clock/index.js';
import { InMemoryApi } from './in-memory/in-memory-api.js';
import { InMemoryInformers } from './in-memory/in-memory-informers.js';
import type { ResourceEvent } from '../client/informer/index.js';
import type { KubernetesObject } from '../machinery/kubernetes/index.js';
import { Pod } from '../machinery/kubernetes/index.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeInformers } from './fake-informers.js';
import { aPod } from './pod-builder.js';

const told = ({ object, type }: ResourceEvent<KubernetesObject>): string => `${type} ${object.metadata.uid}`;

describe('the caches of the tests', () => {
  it('show another object of the same name as a deletion and an addition, as the real one does', async () => {
    const cluster = new FakeCluster(new FakeClock());
    const informers = new FakeInformers(cluster);
    const first = await cluster.create<Pod>(Pod, aPod());
    const events: string[] = [];
    informers.informerFor(Pod).addEventHandler((event) => events.push(told(event)));
    informers.pause();
    await cluster.delete(Pod, first.metadata);
    const second = await cluster.create<Pod>(Pod, aPod());
    informers.resume();
    expect(events).toEqual([
      `added ${first.metadata.uid}`,
      `deleted ${first.metadata.uid}`,
      `added ${second.metadata.uid}`,
    ]);
  });

  it('show it so too where both happened between two looks', async () => {
    const api = new InMemoryApi();
    const informers = new InMemoryInformers(api);
    const informer = informers.informerFor(Pod);
    const events: string[] = [];
    informer.addEventHandler((event) => events.push(told(event)));
    api.seed(Pod, aPod({ uid: 'first', resourceVersion: '1' }));
    informers.refresh();
    await api.delete(Pod, { namespace: 'default', name: 'web-x' });
    api.seed(Pod, aPod({ uid: 'second', resourceVersion: '2' }));
    informers.refresh();
    expect(events).toEqual(['added first', 'deleted first', 'added second']);
  });
});
