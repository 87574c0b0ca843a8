import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import {
  Deployment,
  ReplicaSet,
  newControllerRef,
  qualifiedResource,
} from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { aDeployment } from '../../testing/deployment-builder.js';
import { FakeCluster, refusal } from '../../testing/fake-cluster.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { MemoryActorStore, QueuedActivations } from '../activation/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { Controller } from './controller.js';
import { settleInterruption } from './settle-interruption.js';

const KEY = 'default/web';
const REF = { namespace: 'default', name: 'web' };
const KINDS = { own: Deployment, owned: [{ kind: ReplicaSet, isSelected: true }] };
const SETS = qualifiedResource(ReplicaSet);

/** A Deployment with a ReplicaSet of its own and one of another owner, and caches that show everything up to `shown`. */
function aCluster() {
  const cluster = new FakeCluster();
  const deployment = cluster.seed(Deployment, aDeployment());
  const aSet = (name: string, owner: Deployment): ReplicaSet => {
    const set = aReplicaSet();
    return {
      ...set,
      metadata: { ...set.metadata, uid: name, name, ownerReferences: [newControllerRef(owner)] },
    };
  };
  const own = cluster.seed(ReplicaSet, aSet('web-1', deployment));
  cluster.seed(
    ReplicaSet,
    aSet('other-1', { ...deployment, metadata: { ...deployment.metadata, uid: 'other' } }),
  );
  const caches = { shown: Infinity };
  const informer = {
    hasSeen: (version: string) => Number(version) <= caches.shown,
    waitForResourceVersion: async () => void (caches.shown = Infinity),
  };
  const informerOf = () => informer;
  return { caches, cluster, deployment, informerOf, own };
}

describe('the writes of an interrupted sync', () => {
  const settled = async ({ cluster, deployment, informerOf }: ReturnType<typeof aCluster>, kinds = KINDS) => {
    const written: Record<string, string> = {};
    let isSettled = false;
    const activation = {
      recordOwnWrite: (resource: string, version: string) => void (written[resource] = version),
      settleInterruption: () => void (isSettled = true),
    };
    const parts = { ref: REF, client: cluster, informerOf, kinds, object: deployment };
    const error = await settleInterruption(activation, parts).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { error, isSettled, written };
  };

  it('are those that the server shows of the object and of what it controls, and have to be seen from then on', async () => {
    const world = aCluster();
    const { error, isSettled, written } = await settled(world);
    expect([error, isSettled]).toEqual([undefined, true]);
    expect(written).toEqual({
      [qualifiedResource(Deployment)]: world.deployment.metadata.resourceVersion,
      [SETS]: world.own.metadata.resourceVersion,
    });
    expect(world.cluster.requests.map(({ metadataOnly, verb }) => [verb, metadataOnly])).toEqual([
      ['list', true],
      ['list', true],
    ]);
  });

  it('send the sync back while the caches do not show them', async () => {
    const world = aCluster();
    world.caches.shown = Number(world.own.metadata.resourceVersion) - 1;
    const { error, isSettled, written } = await settled(world);
    expect(error).toMatchObject({ code: 'STALE_CACHE' });
    expect(isSettled).toBe(true);
    expect(written[SETS]).toBe(world.own.metadata.resourceVersion);
  });

  it('stay unknown if the server does not say', async () => {
    const world = aCluster();
    world.cluster.intercept = ({ verb }) =>
      verb === 'list' ? refusal(500, 'InternalError', 'no') : undefined;
    const { error, isSettled } = await settled(world);
    expect(error).toMatchObject({ code: 500 });
    expect(isSettled).toBe(false);
  });

  it.each([
    [400, 'BadRequest'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])(
    'stay unknown, and hold nothing up, where the server refuses a list for good with %i',
    async (code, reason) => {
      const world = aCluster();
      world.cluster.intercept = ({ type, verb }) =>
        verb === 'list' && type === ReplicaSet ? refusal(code, reason, 'no') : undefined;
      const { error, isSettled, written } = await settled(world);
      expect([error, isSettled]).toEqual([undefined, false]);
      expect(written).toEqual({
        [qualifiedResource(Deployment)]: world.deployment.metadata.resourceVersion,
      });
    },
  );

  it('are none of an object that is gone', async () => {
    const world = aCluster();
    world.cluster.vanish(Deployment, KEY);
    const { error, isSettled } = await settled(world, { ...KINDS, owned: [] });
    expect([error, isSettled]).toEqual([undefined, true]);
  });
});

describe('a sync after an interrupted one', () => {
  /** A controller whose syncs write unless that is switched off, and the actor store of its keys. */
  function aController() {
    const world = aCluster();
    const clock = new FakeClock();
    const store = new MemoryActorStore(clock);
    const actors = new MemoryActorRuntime({ clock, store });
    const queue = new MemoryWorkQueue({ name: 'test', clock });
    const consumer = new MemoryWorkQueueConsumer(queue);
    const syncs = { count: 0, write: true };
    const controller = new Controller({
      name: 'test',
      sync: async (_request, { client }) => {
        syncs.count += 1;
        const patch = { type: 'merge', body: { spec: { replicas: syncs.count } } } as const;
        if (syncs.write) await client.patch(Deployment, REF, patch);
        return {};
      },
      activations: new QueuedActivations({ queue, consumer, actors, clock, logger: silentLogger }),
      clientFor: () => world.cluster,
      informerOf: world.informerOf,
      objectOf: () => world.deployment,
      writtenKinds: KINDS,
      ...{ clock, logger: silentLogger, tracer: trace.getTracer('test') },
      ...{ workers: 1, caughtUpTimeoutMs: 1000, replica: 'replica-1' },
    });
    const stop = new AbortController();
    void controller.run(stop.signal);
    const pass = async (ms: number): Promise<readonly string[]> => {
      world.cluster.requests.length = 0;
      await clock.advance(ms);
      return world.cluster.requests.map(({ verb }) => verb);
    };
    const run = async (): Promise<readonly string[]> => {
      await queue.add(KEY);
      return pass(10);
    };
    const interrupt = async (): Promise<void> => {
      await store.acquire({ controller: 'test', key: KEY }, 'one that dies', 100);
      await clock.advance(101);
    };
    return { ...world, interrupt, pass, run, syncs };
  }

  it('asks the server before its first write, once, and costs nothing where none was interrupted', async () => {
    const { interrupt, run } = aController();
    expect(await run()).toEqual(['patch']);
    await interrupt();
    expect(await run()).toEqual(['list', 'list', 'patch']);
    expect(await run()).toEqual(['patch']);
  });

  it('asks nothing while it has nothing to write', async () => {
    const { interrupt, run, syncs } = aController();
    await interrupt();
    syncs.write = false;
    expect(await run()).toEqual([]);
    syncs.write = true;
    expect(await run()).toEqual(['list', 'list', 'patch']);
  });

  it('writes also if the server refuses to list what was written, and asks again before its next write', async () => {
    const { cluster, interrupt, run } = aController();
    cluster.intercept = ({ verb }) => (verb === 'list' ? refusal(403, 'Forbidden', 'no') : undefined);
    await interrupt();
    expect(await run()).toEqual(['list', 'list', 'patch']);
    cluster.intercept = () => undefined;
    expect(await run()).toEqual(['list', 'list', 'patch']);
    expect(await run()).toEqual(['patch']);
  });

  it('decides anew, and writes nothing, if its caches did not show what was written', async () => {
    const { caches, interrupt, own, pass, run, syncs } = aController();
    await interrupt();
    caches.shown = Number(own.metadata.resourceVersion) - 1;
    expect(await run()).toEqual(['list', 'list']);
    expect(syncs.count).toBe(1);
    expect(await pass(300)).toEqual(['patch']);
    expect(syncs.count).toBe(2);
  });
});
