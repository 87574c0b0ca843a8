import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../clock/index.js';
import type { InformerSource } from '../controller/controller-definition.js';
import type { Pod } from '../kubernetes/index.js';
import { PODS, REPLICA_SETS } from '../kubernetes/index.js';
import { silentLogger } from '../logging/index.js';
import { FakeListWatch } from '../testing/fake-list-watch.js';
import { InformerFactory } from './informer-factory.js';

function make() {
  const clock = new FakeClock();
  const server = new FakeListWatch<Pod>(PODS, clock);
  const factory = new InformerFactory({
    client: server,
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    freeze: true,
  });
  return { clock, server, factory, stopper: new AbortController() };
}

describe('InformerFactory', () => {
  it('is what controllers ask for their informers', () => {
    const source: InformerSource = make().factory;
    expect(source.informerFor(PODS).type).toBe(PODS);
  });

  it('gives every controller the same informer of a type', () => {
    const { factory } = make();
    expect(factory.informerFor(PODS)).toBe(factory.informerFor(PODS));
    expect(factory.informerFor(PODS)).not.toBe(factory.informerFor(REPLICA_SETS));
    expect(factory.all()).toHaveLength(2);
  });

  it('refuses a second version of a type', () => {
    const { factory } = make();
    factory.informerFor(REPLICA_SETS);
    expect(() => factory.informerFor({ ...REPLICA_SETS, version: 'v1beta1' })).toThrow(
      'replicasets.apps is cached as v1',
    );
  });

  it('runs all informers, also late ones, and stops them all', async () => {
    const { clock, server, factory, stopper } = make();
    server.put('a', 'x');
    const pods = factory.informerFor<Pod>(PODS);
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    expect(pods.lister.get('a/x')).toBeDefined();

    const late = factory.informerFor(REPLICA_SETS);
    expect(factory.hasSynced).toBe(false);
    await late.waitForSync(stopper.signal);
    expect(factory.hasSynced).toBe(true);

    await expect(factory.run(stopper.signal)).rejects.toThrow('run already');
    stopper.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
    expect(server.openWatches).toBe(0);
  });

  it('trims pods and drops managedFields', async () => {
    const { server, factory, stopper } = make();
    server.put('a', 'x', (pod) => {
      pod.metadata.managedFields = [{}];
      pod.spec = { nodeName: 'n', containers: [{ name: 'c', image: 'nginx' }] };
    });
    const pods = factory.informerFor<Pod>(PODS);
    const running = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    expect(pods.lister.get('a/x')?.spec).toEqual({ nodeName: 'n', containers: [] });
    expect(pods.lister.get('a/x')?.metadata).not.toHaveProperty('managedFields');
    stopper.abort();
    await running;
  });
});
