import { describe, expect, it, vi } from 'vitest';
import { ApiStatusError, ObjectShard } from '../api-client/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import type { InformerSource } from '../../runtime/controller/controller-definition.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { Deployment, Node, Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { FakeListWatch } from '../../testing/fake-list-watch.js';
import { InformerFactory } from './informer-factory.js';
import type { InformerFactoryOptions } from './informer-factory.js';
import { OWNER_UID_INDEX } from './informer.js';
import type { ListWatcher } from './list-everything.js';

function make(selections?: InformerFactoryOptions['selections']) {
  const clock = new FakeClock();
  const server = new FakeListWatch<Pod>(Pod, clock);
  const factory = new InformerFactory({
    client: server,
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    freeze: true,
    ...(selections && { selections }),
  });
  return { clock, server, factory, stopper: new AbortController() };
}

describe('InformerFactory', () => {
  it('is what controllers ask for their informers', () => {
    const source: InformerSource = make().factory;
    expect(source.informerFor(Pod).type).toBe(Pod);
  });

  it('gives every controller the same informer of a type', () => {
    const { factory } = make();
    expect(factory.informerFor(Pod)).toBe(factory.informerFor(Pod));
    expect(factory.informerFor(Pod)).not.toBe(factory.informerFor(ReplicaSet));
    expect(factory.all()).toHaveLength(2);
  });

  it('lets one watch at a time end soon, and the others live twice as long', async () => {
    const { clock, server, factory, stopper } = make();
    for (const type of [Pod, ReplicaSet, Deployment, Node]) factory.informerFor(type);
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    const watches = (): number => server.requests.filter((request) => request.startsWith('watch')).length;
    await clock.advance(1000);
    expect(watches()).toBe(4);
    await clock.advance(59_000);
    // By itself, each would have begun four times: it ends after 15 to 20 s.
    expect(watches()).toBeGreaterThanOrEqual(9);
    expect(watches()).toBeLessThanOrEqual(11);
    await clock.advance(240_000);
    expect(watches()).toBeLessThan(50);
    stopper.abort();
    await running;
  });

  it('begins all watches again once the one that should have ended is dead', async () => {
    const { clock, server, factory, stopper } = make();
    const informers = [Pod, ReplicaSet, Deployment, Node].map((type) => factory.informerFor<Pod>(type));
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    await clock.advance(1000);
    server.silenceWatches();
    server.put('a', 'x');
    // By itself, none of the others would notice earlier than after 35 s.
    await clock.advance(26_000);
    for (const { lister } of informers) expect(lister.get('a/x')).toBeDefined();
    stopper.abort();
    await running;
  });

  it('changes the shards of all namespaced types at once, and waits for the copy of one in all of them', async () => {
    const { clock, server, stopper } = make();
    const options = { client: server, clock, random: new SeededRandom(1), logger: silentLogger, shards: [] };
    const factory = new InformerFactory(options);
    const [pods, sets] = [Pod, ReplicaSet].map((type) => factory.informerFor(type));
    factory.informerFor(Node);
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    const half = new ObjectShard('object.metadata.namespace', [{ start: 0n, end: 2n ** 63n }]);
    // Its hash is in the lower half.
    server.put('shop', 'x');
    expect([pods?.lister.list(), sets?.lister.list()]).toEqual([[], []]);
    factory.setShards([half]);
    await factory.waitUntilCurrentIn(half, stopper.signal);
    for (const informer of [pods, sets]) expect(informer?.lister.get('shop/x')).toBeDefined();
    factory.setShards([]);
    for (const informer of [pods, sets]) expect(informer?.lister.list()).toEqual([]);
    expect(() => make().factory.setShards([half])).toThrow('have no shards');
    stopper.abort();
    await running;
  });

  it('waits for no copy of a type that the server refuses to list, if nothing needs it', async () => {
    const { clock, server, stopper } = make();
    const options = { client: server, clock, random: new SeededRandom(1), logger: silentLogger, shards: [] };
    const factory = new InformerFactory(options);
    factory.informerFor(Pod);
    const running = factory.run(stopper.signal);
    server.failNext('list', new ApiStatusError({ code: 403 }), 9);
    const half = new ObjectShard('object.metadata.namespace', [{ start: 0n, end: 2n ** 63n }]);
    factory.setShards([half]);
    let isNeededCurrent = false;
    void factory.waitUntilCurrentIn(half, stopper.signal).then(
      () => (isNeededCurrent = true),
      () => undefined,
    );
    await clock.advance(0);
    await factory.waitUntilCurrentIn(half, stopper.signal, () => true);
    expect(isNeededCurrent).toBe(false);
    stopper.abort();
    await running;
  });

  it('refuses a second version of a type', () => {
    const { factory } = make();
    factory.informerFor(ReplicaSet);
    expect(() => factory.informerFor({ ...ReplicaSet, version: 'v1beta1' })).toThrow(
      'replicasets.apps is cached as v1',
    );
  });

  it('runs all informers, also late ones, and stops them all', async () => {
    const { clock, server, factory, stopper } = make();
    server.put('a', 'x');
    const pods = factory.informerFor<Pod>(Pod);
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    expect(pods.lister.get('a/x')).toBeDefined();

    const late = factory.informerFor(ReplicaSet);
    expect(factory.hasSynced).toBe(false);
    await late.waitForSync(stopper.signal);
    expect(factory.hasSynced).toBe(true);

    await expect(factory.run(stopper.signal)).rejects.toThrow('are already running');
    stopper.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
    expect(server.openWatches).toBe(0);
  });

  it.each([
    { selection: { labelSelector: undefined }, isShared: true },
    { selection: { labelSelector: '' }, isShared: true },
    { selection: { labelSelector: 'shard=a' }, isShared: false },
    { selection: { fieldSelector: 'metadata.name=a' }, isShared: false },
  ])('shares the cache of all objects with who needs the metadata: $selection', ({ isShared, selection }) => {
    const { factory } = make({ pods: selection });
    factory.informerFor(Pod);
    expect(factory.metadataInformerFor(Pod).isShared).toBe(isShared);
  });

  it('trims pods and drops managedFields', async () => {
    const { server, factory, stopper } = make();
    server.put('a', 'x', (pod) => {
      pod.metadata.managedFields = [{}];
      pod.spec = { nodeName: 'n', containers: [{ name: 'c', image: 'nginx' }] };
    });
    const pods = factory.informerFor<Pod>(Pod);
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    expect(pods.lister.get('a/x')?.spec).toEqual({ nodeName: 'n', containers: [] });
    expect(pods.lister.get('a/x')?.metadata).not.toHaveProperty('managedFields');
    stopper.abort();
    await running;
  });
});

describe('informers of the metadata alone', () => {
  it('are the shared ones where the objects are cached anyway, so that nothing is cached twice', () => {
    const { factory } = make();
    const pods = factory.informerFor(Pod);
    expect(factory.metadataInformerFor(Pod)).toEqual({ informer: pods, isShared: true });
    expect(factory.metadataInformerFor(ReplicaSet).isShared).toBe(false);
    expect(factory.all()).toEqual([pods]);
  });

  it('are never those that keep a part of each object, or only some objects', () => {
    const { factory } = make();
    const keep = (object: KubernetesObject): KubernetesObject => object;
    const part = { ...Pod, part: { name: 'names', keep } };
    const thin = factory.partialInformerFor(part);
    expect(factory.partialInformerFor({ ...part })).toBe(thin);
    expect(() =>
      factory.partialInformerFor({ ...Pod, part: { name: 'names', keep: (object) => object } }),
    ).toThrow('two parts of pods are named names');
    expect(factory.metadataInformerFor(Pod).isShared).toBe(false);
    expect(factory.informerFor(Pod)).not.toBe(thin);
    const scoped = make({ pods: { labelSelector: 'a=b' } }).factory;
    scoped.informerFor(Pod);
    expect(scoped.metadataInformerFor(Pod).isShared).toBe(false);
  });

  it('ask for the metadata, and keep of it only what tells who owns an object', async () => {
    const { factory, server, stopper } = make();
    const asked: unknown[] = [];
    vi.spyOn(server, 'list').mockImplementation(async (_type, options) => {
      asked.push(options?.metadataOnly);
      return { items: [await aLabelledObject()], resourceVersion: '101' };
    });
    vi.spyOn(server, 'watch').mockImplementation((_type, options) => {
      asked.push(options.metadataOnly);
      return FakeListWatch.prototype.watch.call(server, Pod, options);
    });
    const { informer } = factory.metadataInformerFor(Pod);
    const running = informer.run(stopper.signal);
    await informer.waitForSync(stopper.signal);
    expect(asked[0]).toBe(true);
    expect(informer.lister.get('a/x')).toStrictEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion: '100', finalizers: ['orphan'] },
    });
    expect(() => informer.lister.byIndex(OWNER_UID_INDEX, 'u')).toThrow('no index');
    stopper.abort();
    await running;
    expect(asked).toEqual([true, true]);
  });

  it('are listed a few at a time, and one that hangs does not keep the others from it', async () => {
    const clock = new FakeClock();
    const listed: string[] = [];
    const client: ListWatcher = {
      list: async (type, options) => {
        listed.push(type.resource);
        if (type.resource.startsWith('hanging')) await never(options?.signal);
        return { items: [], resourceVersion: '1' };
      },
      watch: (_type, { signal }) => silence(signal),
    };
    const random = new SeededRandom(1);
    const factory = new InformerFactory({ client, clock, random, logger: silentLogger });
    const stopper = new AbortController();
    const types = Array.from({ length: 40 }, (_, index) => ({
      ...Pod,
      resource: `${index < 10 ? 'hanging' : 'things'}${index}`,
    }));
    const running = types.map((type) => factory.metadataInformerFor(type).informer.run(stopper.signal));
    await clock.advance(0);
    expect(listed).toHaveLength(8);
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(listed).toHaveLength(40);
    stopper.abort();
    await Promise.all(running);
    expect(clock.pendingTimers).toBe(0);
  });
});

async function aLabelledObject(): Promise<never> {
  const identity = { namespace: 'a', name: 'x', uid: 'u', resourceVersion: '100' };
  const metadata = { ...identity, labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['orphan'] };
  return { apiVersion: 'v1', kind: 'Pod', metadata } as never;
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

async function* silence(signal: AbortSignal): AsyncGenerator<never> {
  await never(signal);
  yield undefined as never;
}
