import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { Deployment } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { isDeploymentDue } from '../../controllers/deployment/event-handlers.js';
import { isReplicaSetDue } from '../../controllers/replicaset/watch-replicasets.js';
import { MemoryWorkQueue } from '../work-queue/index.js';
import { dueObjects } from './controller-definition.js';
import { UnqueuedSweep } from './unqueued-sweep.js';

function deployment(
  name: string,
  changes: { generation?: number; observed?: number; version?: string } = {},
): Deployment {
  const { generation = 2, observed = 1, version = '7' } = changes;
  return {
    apiVersion: 'apps/v1',
    kind: Deployment.kind,
    metadata: { namespace: 'ns', name, generation, resourceVersion: version },
    spec: { selector: {}, template: {} },
    status: { observedGeneration: observed },
  };
}

function setUp() {
  const clock = new FakeClock();
  const queue = new MemoryWorkQueue({ name: 'deployment', clock });
  let cached: Deployment[] = [];
  let found = 0;
  const sweep = new UnqueuedSweep({
    controller: 'deployment',
    queue,
    due: () => dueObjects({ list: () => cached }, isDeploymentDue),
    clock,
    logger: silentLogger,
    metrics: { unqueued: () => found++ },
  });
  const { signal } = new AbortController();
  return {
    clock,
    queue,
    sweep,
    found: () => found,
    cache: (...objects: Deployment[]) => (cached = objects),
    look: () => sweep.look(queue, signal),
  };
}

describe('the sweep for keys that should be queued', () => {
  it('finds one that asks for work since the last look and is known nowhere; counts and adds it', async () => {
    const { cache, found, look, queue } = setUp();
    cache(deployment('lost'), deployment('done', { observed: 2 }));
    expect(await look()).toEqual([]);
    expect(await look()).toEqual(['ns/lost']);
    expect(found()).toBe(1);
    expect((await queue.inspectKey('ns/lost')).waiting).toMatchObject({ reason: 'sweep', priority: 'low' });
    expect(await look()).toEqual([]);
  });

  it('gives what has just changed another interval', async () => {
    const { cache, found, look } = setUp();
    for (const version of ['1', '2', '3']) {
      cache(deployment('busy', { version }));
      expect(await look()).toEqual([]);
    }
    expect(found()).toBe(0);
  });

  it('leaves keys alone that wait, run, come back later or are parked', async () => {
    const { cache, found, look, queue } = setUp();
    await queue.add('ns/running');
    queue.takeNext();
    await queue.add('ns/waiting');
    await queue.addAfter('ns/delayed', 60_000);
    await queue.park('ns/parked', new Error('no'));
    cache(...['running', 'waiting', 'delayed', 'parked'].map((name) => deployment(name)));
    await look();
    expect(await look()).toEqual([]);
    expect(found()).toBe(0);
  });

  it('looks now and then while it runs, and can run again', async () => {
    const { cache, clock, found, queue, sweep } = setUp();
    cache(deployment('lost'));
    for (const round of [1, 2]) {
      const stop = new AbortController();
      const running = sweep.run(queue, stop.signal);
      await expect(sweep.run(queue, stop.signal)).rejects.toMatchObject({ code: 'ILLEGAL_STATE' });
      await clock.advance(10_000);
      await clock.advance(10_000);
      stop.abort();
      await running;
      expect(found()).toBe(round);
      await queue.purge('ns/lost');
    }
  });
});

describe('signs that work is due', () => {
  it('show for a Deployment a generation that was not seen yet', () => {
    expect(isDeploymentDue(deployment('a'))).toBe(true);
    expect(isDeploymentDue(deployment('a', { observed: 2 }))).toBe(false);
    const going = deployment('a');
    going.metadata.deletionTimestamp = '2020-01-01T00:00:00Z';
    expect(isDeploymentDue(going)).toBe(false);
  });

  it('show for a ReplicaSet that, or a number of pods that is not the one asked for', () => {
    const replicaSet = (replicas: number, has: number, observedGeneration = 1) => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace: 'ns', name: 'a', generation: 1 },
      spec: { replicas, selector: {} },
      status: { replicas: has, observedGeneration },
    });
    expect(isReplicaSetDue(replicaSet(3, 3))).toBe(false);
    expect(isReplicaSetDue(replicaSet(3, 2))).toBe(true);
    expect(isReplicaSetDue(replicaSet(3, 3, 0))).toBe(true);
  });
});
