import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { ShutdownError } from '../../../machinery/errors/index.js';
import type { KubernetesObject, ResourceType } from '../../../machinery/kubernetes/index.js';
import { Namespace, ServiceAccount } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../testing/fake-informers.js';
import { OBSTACLES } from '../../controller/index.js';
import { MemoryWorkQueue } from '../../work-queue/index.js';
import { ObstacleWatch } from './obstacle-watch.js';

const REFUSED = new ApiStatusError({ code: 403, message: 'pods "web-1" is forbidden: violates PodSecurity' });

const typeOf = (resource: string): ResourceType => {
  const found = OBSTACLES.find(({ type }) => type.resource === resource);
  if (!found) throw new Error(`${resource} is no obstacle`);
  return found.type;
};

/** A replica with a queue of keys that have been refused often. */
async function watching(...keys: readonly string[]) {
  const clock = new FakeClock();
  const api = new FakeCluster(clock);
  await api.create<KubernetesObject>(Namespace, aNamespace('shop', { level: 'restricted' }));
  await api.create<KubernetesObject>(Namespace, aNamespace('bank', { level: 'restricted' }));
  const informers = new FakeInformers(api);
  const queue = new MemoryWorkQueue({ name: 'replicaset', clock });
  const watch = new ObstacleWatch({ informers, clock, logger: silentLogger });
  const report = watch.keysOf(queue);
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  const refuse = async (key: string): Promise<void> => {
    for (let times = 0; times < 14; times++) await queue.addRateLimited(key, REFUSED);
    report.failed(key, REFUSED);
  };
  /** The keys that were woken since the last call, each run to its end. */
  const woken = async (): Promise<string[]> => {
    await clock.advance(20);
    const items = [];
    for (let item = queue.takeNext(); item; item = queue.takeNext()) {
      items.push(item.key);
      queue.done(item.key);
    }
    return items.toSorted();
  };
  for (const key of keys) await refuse(key);
  await clock.advance(100);
  // Each is tried once when the watches begin: the obstacle may have gone before.
  expect(await woken()).toEqual(keys.toSorted());
  const end = async (): Promise<void> => {
    stop.abort(new ShutdownError('stop'));
    await running;
  };
  return { api, clock, end, queue, refuse, report, watch, woken };
}

const aNamespace = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

const anObject = (
  { group, kind, namespaced, version }: ResourceType,
  namespace: string,
): KubernetesObject => ({
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
  metadata: { name: 'one', ...(namespaced && { namespace }) },
});

describe('a key whose writes are refused', () => {
  it('is woken when a label of its namespace changes, and others are left alone', async () => {
    const { api, end, woken } = await watching('shop/web', 'bank/pay');
    await api.patch(
      Namespace,
      { name: 'shop' },
      { type: 'merge', body: { metadata: { labels: { level: null } } } },
    );
    expect(await woken()).toEqual(['shop/web']);
    await end();
  });

  const clusterWide = OBSTACLES.filter(({ type }) => !type.namespaced && type !== Namespace);
  it.each(clusterWide.map(({ type }) => ({ kind: type.kind, type })))(
    'is woken when a $kind appears or goes',
    async ({ type }) => {
      const { api, clock, end, woken } = await watching('shop/web', 'bank/pay');
      await api.create(type, anObject(type, ''));
      expect(await woken()).toEqual(['bank/pay', 'shop/web']);
      await clock.advance(10_000);
      await woken();
      await api.delete(type, { name: 'one' });
      expect(await woken()).toEqual(['bank/pay', 'shop/web']);
      await end();
    },
  );

  const inNamespaces = OBSTACLES.filter(({ type }) => type.namespaced);
  it.each(inNamespaces.map(({ type }) => ({ kind: type.kind, type })))(
    'is woken when a $kind appears in its namespace',
    async ({ type }) => {
      const { api, end, woken } = await watching('shop/web', 'bank/pay', 'cluster-scoped');
      await api.create(type, anObject(type, 'shop'));
      expect(await woken()).toEqual(['cluster-scoped', 'shop/web']);
      await end();
    },
  );

  it('is tried again after moments while it still fails: API servers notice a change later than watchers', async () => {
    const { api, clock, end, woken } = await watching('shop/web');
    await api.create(typeOf('priorityclasses'), anObject(typeOf('priorityclasses'), ''));
    expect(await woken()).toEqual(['shop/web']);
    await clock.advance(1000);
    expect(await woken()).toEqual(['shop/web']);
    await clock.advance(4000);
    expect(await woken()).toEqual(['shop/web']);
    await clock.advance(10_000);
    expect(await woken()).toEqual([]);
    await end();
  });

  it('is woken where it is parked, unless a person has set it aside', async () => {
    const { api, end, queue, woken } = await watching('shop/web', 'shop/aside');
    await queue.park('shop/web', REFUSED, {});
    await queue.purge('shop/aside');
    await queue.park('shop/aside', 'by hand');
    await api.create(ServiceAccount, anObject(ServiceAccount, 'shop'));
    expect(await woken()).toEqual(['shop/web']);
    await end();
  });

  it('is not woken once it has succeeded, here or on another replica', async () => {
    const { api, end, queue, report, woken } = await watching('shop/here', 'shop/elsewhere', 'shop/web');
    report.succeeded('shop/here');
    await queue.forget('shop/elsewhere');
    await api.create(ServiceAccount, anObject(ServiceAccount, 'shop'));
    expect(await woken()).toEqual(['shop/web']);
    await end();
  });

  it('is tried once every ten seconds while a webhook refuses it, and wakes the others when it is accepted', async () => {
    const { clock, end, queue, report, watch, woken } = await watching();
    const away = new ApiStatusError({
      code: 500,
      message: 'failed calling webhook "check.example.com": refused',
    });
    for (const key of ['shop/web', 'shop/db']) {
      await queue.addRateLimited(key, away);
      await queue.park(key, away, {});
      report.failed(key, away);
    }
    await clock.advance(100);
    await woken();
    for (const key of ['shop/web', 'shop/db']) await queue.park(key, away, {});
    expect(watch.isWatching).toBe(true);
    await clock.advance(9000);
    expect(await woken()).toEqual([]);
    await clock.advance(1000);
    expect(await woken()).toEqual(['shop/web']);
    await queue.forget('shop/web');
    report.succeeded('shop/web');
    expect(await woken()).toEqual(['shop/db']);
    await end();
  });

  it('is not waiting for anybody where the answer was a conflict, or there was none', async () => {
    const { end, report, watch } = await watching();
    report.failed('shop/web', new ApiStatusError({ code: 409, message: 'conflict' }));
    report.failed('shop/web', new Error('socket hang up'));
    expect(watch.isWatching).toBe(false);
    await end();
  });
});

describe('the watches for obstacles', () => {
  it('are open only while there is something to wake', async () => {
    const { clock, end, refuse, report, watch, woken } = await watching();
    expect(watch.isWatching).toBe(false);
    await refuse('shop/web');
    expect(watch.isWatching).toBe(true);
    report.succeeded('shop/web');
    await clock.advance(59_000);
    expect(watch.isWatching).toBe(true);
    await clock.advance(2000);
    expect(watch.isWatching).toBe(false);
    await woken();
    await end();
  });
});
