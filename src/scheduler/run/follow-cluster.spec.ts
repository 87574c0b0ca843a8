import type { ResourceEvent } from '@rollkeeper/client/informer';
import type { Pod } from '@rollkeeper/machinery/kubernetes';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../cache/scheduler-cache.js';
import { podInfoOf } from '../node/pod-info.js';
import { aQueue } from '../queue/scheduling-queue.fixture.js';
import type { ClusterCaches } from './cluster-caches.js';
import { followCluster } from './follow-cluster.js';
import { podOf } from '../../testing/pod-builder.js';

const waitingPod = (status: Pod['status'] = {}, nodeName?: string): Pod =>
  podOf({ metadata: { namespace: 'a', uid: '1' }, spec: { nodeName }, status });
const WAITING = waitingPod();
const NOMINATED = waitingPod({ nominatedNodeName: 'n' });

function follow() {
  const cache = new SchedulerCache();
  cache.setNode({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
  const { queue, take } = aQueue();
  let tell!: (event: ResourceEvent<Pod>) => void;
  const nothing = { addEventHandler: () => () => undefined };
  const pods = {
    addEventHandler: (handler: typeof tell) => {
      tell = handler;
      return () => undefined;
    },
  };
  const caches = { nodes: nothing, viewed: new Map(), pods } as unknown as ClusterCaches;
  followCluster(caches, { cache, queue, isOurs: () => true, onGone: () => undefined });
  tell({ type: 'added', object: WAITING, initial: true });
  return { cache, queue, take, tell, onNode: () => cache.snapshot().get('n')?.pods.length };
}

/** As an attempt does that ends well. */
async function bind({ cache, queue, take }: ReturnType<typeof follow>): Promise<void> {
  const entry = await take();
  cache.assume(podInfoOf(entry!.pod), 'n');
  cache.confirm('a/web');
  queue.done(entry!.key);
}

describe('a pod that has been bound', () => {
  it('is not tried again because of a change that was told late', async () => {
    const world = follow();
    await bind(world);
    world.tell({ type: 'modified', old: WAITING, object: NOMINATED });
    expect(world.queue.has('1')).toBe(false);
    expect(world.cache.nominationOf('a/web')).toBeUndefined();
    world.tell({ type: 'modified', old: NOMINATED, object: waitingPod({}, 'n') });
    expect(world.onNode()).toBe(1);
  });

  it('leaves its node if it is gone before it was ever seen there', async () => {
    const world = follow();
    await bind(world);
    world.tell({ type: 'deleted', object: WAITING, finalStateUnknown: true });
    expect(world.onNode()).toBe(0);
  });
});

describe('a pod that is being bound', () => {
  it('is not counted twice on its node, as nominated and as placed', async () => {
    const world = follow();
    const entry = await world.take();
    world.cache.assume(podInfoOf(entry!.pod), 'n');
    world.tell({ type: 'modified', old: WAITING, object: NOMINATED });
    expect(world.cache.nominationOf('a/web')).toBeUndefined();
  });
});
