import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { InvalidOptionError } from '../../machinery/errors/index.js';
import { Lease } from '../../machinery/kubernetes/index.js';
import { runResourceLockContract } from '../../testing/resource-lock-contract.js';
import { waitFor } from '../../testing/wait-for.js';
import { WatchableCluster } from '../../testing/fake-list-watch.js';
import { DURATION_ANNOTATION } from './lease-object.js';
import { LeaseResourceLock } from './lease-resource-lock.js';

function setUp() {
  const clock = new FakeClock();
  const cluster = new WatchableCluster(clock);
  const made: LeaseResourceLock[] = [];
  const lock = (identity: string): LeaseResourceLock => {
    const made1 = new LeaseResourceLock({
      client: cluster,
      identity,
      namespace: 'ns',
      name: 'leader',
      clock,
    });
    made.push(made1);
    return made1;
  };
  const lease = (): Lease => cluster.peek<Lease>(Lease, 'ns/leader') as Lease;
  return { clock, cluster, lock, lease, stop: async () => made.forEach((each) => each.close()) };
}

runResourceLockContract('LeaseResourceLock', async () => {
  const { clock, cluster, lock, stop } = setUp();
  return {
    lock,
    pass: (ms) => clock.advance(ms),
    async saved() {
      const before = cluster.peek<Lease>(Lease, 'ns/leader');
      return async () => {
        cluster.vanish(Lease, 'ns/leader');
        if (before) cluster.seed<Lease>(Lease, before);
      };
    },
    stop,
  };
});

describe('LeaseResourceLock', () => {
  it('writes a Lease that other tools can read, never shorter than it lasts', async () => {
    const { lease, lock } = setUp();
    await lock('a').tryAcquireOrRenew(2500);
    expect(lease().spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 3, leaseTransitions: 1 });
    expect(lease().metadata.annotations?.[DURATION_ANNOTATION]).toBe('2500');
  });

  it('believes no time that another machine wrote: a lease counts from when we saw it change', async () => {
    const { clock, cluster, lock } = setUp();
    const [early, late] = ['2001-01-01T00:00:00.000000Z', '2101-01-01T00:00:00.000000Z'];
    for (const renewTime of [early, late]) {
      cluster.vanish(Lease, 'ns/leader');
      cluster.seed<Lease>(Lease, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'ns', name: 'leader' },
        spec: {
          holderIdentity: 'x',
          leaseDurationSeconds: 15,
          acquireTime: renewTime,
          renewTime,
          leaseTransitions: 4,
        },
      });
      const b = lock('b');
      expect(await b.tryAcquireOrRenew(2500)).toMatchObject({ outcome: 'held', remainingMs: 15_000 });
      await clock.advance(14_999);
      expect((await b.tryAcquireOrRenew(2500)).outcome).toBe('held');
      await clock.advance(1);
      expect(await b.tryAcquireOrRenew(2500)).toMatchObject({
        outcome: 'acquired',
        record: { leaderTransitions: 5 },
      });
    }
  });

  it('goes by the whole seconds where somebody else wrote over the exact duration', async () => {
    const { cluster, lease, lock } = setUp();
    await lock('a').tryAcquireOrRenew(2500);
    const foreign = lease();
    await cluster.update<Lease>(Lease, {
      ...foreign,
      spec: { ...foreign.spec, holderIdentity: 'x', leaseDurationSeconds: 15 },
    });
    expect(await lock('b').tryAcquireOrRenew(2500)).toMatchObject({ outcome: 'held', remainingMs: 15_000 });
  });

  it('renews with one write and no read', async () => {
    const { cluster, lock } = setUp();
    const a = lock('a');
    await a.tryAcquireOrRenew(2500);
    const before = cluster.requests.length;
    expect((await a.tryAcquireOrRenew(2500)).outcome).toBe('renewed');
    expect(cluster.requests.slice(before).map(({ verb }) => verb)).toEqual(['update']);
  });

  it('keeps what others have written into the Lease', async () => {
    const { cluster, lease, lock } = setUp();
    const a = lock('a');
    await a.tryAcquireOrRenew(2500);
    const labelled = lease();
    await cluster.update<Lease>(Lease, {
      ...labelled,
      metadata: { ...labelled.metadata, labels: { team: 'x' } },
    });
    expect((await a.tryAcquireOrRenew(2500)).outcome).toBe('renewed');
    expect(lease().metadata.labels).toEqual({ team: 'x' });
  });

  it('leaves a Lease that was deleted to its holder, who creates it again in a new epoch', async () => {
    const { cluster, lock } = setUp();
    const [a, b] = [lock('a'), lock('b')];
    await a.tryAcquireOrRenew(60_000);
    await b.tryAcquireOrRenew(60_000);
    cluster.vanish(Lease, 'ns/leader');
    expect(await b.tryAcquireOrRenew(60_000)).toMatchObject({
      outcome: 'held',
      record: { holderIdentity: 'a' },
      remainingMs: 60_000,
    });
    expect((await a.tryAcquireOrRenew(60_000, { epochAbove: 1 })).outcome).toBe('acquired');
    expect(await b.tryAcquireOrRenew(60_000)).toMatchObject({ record: { leaderTransitions: 2 } });
  });

  it('takes a Lease that was deleted once its holder has not come back for its duration', async () => {
    const { clock, cluster, lock } = setUp();
    const b = lock('b');
    await lock('a').tryAcquireOrRenew(60_000);
    await b.tryAcquireOrRenew(60_000);
    cluster.vanish(Lease, 'ns/leader');
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('held');
    await clock.advance(59_999);
    expect(await b.tryAcquireOrRenew(60_000)).toMatchObject({ outcome: 'held', remainingMs: 1 });
    await clock.advance(1);
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('renewed');
  });

  it('takes a Lease that was deleted at once if its holder is known to be dead, had released it, or was never seen', async () => {
    const { cluster, lock } = setUp();
    const [a, b, c, d] = [lock('a'), lock('b'), lock('c'), lock('d')];
    const { record } = await a.tryAcquireOrRenew(60_000, { witness: 'a-pod' });
    await b.tryAcquireOrRenew(60_000);
    cluster.vanish(Lease, 'ns/leader');
    expect((await b.tryAcquireOrRenew(60_000, { deposing: record })).outcome).toBe('acquired');
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('renewed');
    await c.tryAcquireOrRenew(60_000);
    await b.release();
    await c.get();
    cluster.vanish(Lease, 'ns/leader');
    expect((await c.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    cluster.vanish(Lease, 'ns/leader');
    expect((await d.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
  });

  it('counts a deleted Lease from its deletion, since its holder may have renewed it until then', async () => {
    const { clock, cluster, lock } = setUp();
    const [a, b] = [lock('a'), lock('b')];
    await a.tryAcquireOrRenew(1000);
    await b.tryAcquireOrRenew(1000);
    await clock.advance(900);
    await a.tryAcquireOrRenew(1000);
    await clock.advance(500);
    cluster.vanish(Lease, 'ns/leader');
    expect(await b.tryAcquireOrRenew(1000)).toMatchObject({ outcome: 'held', remainingMs: 1000 });
    await clock.advance(1000);
    expect((await b.tryAcquireOrRenew(1000)).outcome).toBe('acquired');
  });

  it('remembers the holder of a deleted Lease also if an empty one was created and deleted meanwhile', async () => {
    const { cluster, lease, lock } = setUp();
    const [a, b] = [lock('a'), lock('b')];
    await a.tryAcquireOrRenew(60_000);
    await b.tryAcquireOrRenew(60_000);
    const { resourceVersion: _, uid: __, ...metadata } = lease().metadata;
    cluster.vanish(Lease, 'ns/leader');
    await b.get();
    const empty = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} } as const;
    await cluster.create<Lease>(Lease, empty);
    await b.get();
    cluster.vanish(Lease, 'ns/leader');
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('held');
  });

  it('takes a Lease at once that was deleted, held again in a higher epoch, and released', async () => {
    const { cluster, lock } = setUp();
    const [a, b] = [lock('a'), lock('b')];
    const { record } = await a.tryAcquireOrRenew(60_000);
    await b.tryAcquireOrRenew(60_000);
    cluster.vanish(Lease, 'ns/leader');
    await b.tryAcquireOrRenew(60_000);
    await a.tryAcquireOrRenew(60_000, { epochAbove: record.leaderTransitions });
    await a.release();
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
  });

  it('waits for the holder of a deleted Lease also if somebody has recreated it with nobody in it', async () => {
    const { cluster, lease, lock } = setUp();
    const [a, b] = [lock('a'), lock('b')];
    await a.tryAcquireOrRenew(60_000);
    await b.tryAcquireOrRenew(60_000);
    const { resourceVersion: _, uid: __, ...metadata } = lease().metadata;
    cluster.vanish(Lease, 'ns/leader');
    await cluster.create<Lease>(Lease, {
      ...lease(),
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: {},
    });
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('held');
    expect((await a.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('held');
    await a.release();
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
  });

  it('begins another term when its Lease was deleted and recreated, although it says the same', async () => {
    const { cluster, lease, lock } = setUp();
    const a = lock('a');
    const { record } = await a.tryAcquireOrRenew(60_000);
    const before = lease();
    const { resourceVersion: _, uid, ...metadata } = before.metadata;
    cluster.vanish(Lease, 'ns/leader');
    await cluster.create<Lease>(Lease, { ...before, metadata });
    expect(lease().metadata.uid).not.toBe(uid);
    expect(await a.tryAcquireOrRenew(60_000)).toMatchObject({
      outcome: 'acquired',
      record: { leaderTransitions: record.leaderTransitions + 1 },
    });
    expect((await a.tryAcquireOrRenew(60_000)).outcome).toBe('renewed');
  });

  it('never writes over a change that it has not seen', async () => {
    const { clock, lock } = setUp();
    const [a, b] = [lock('a'), lock('b')];
    await a.tryAcquireOrRenew(1000);
    await b.tryAcquireOrRenew(1000);
    await clock.advance(1000);
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    expect(await a.release()).toBe(false);
    expect((await a.tryAcquireOrRenew(1000)).outcome).toBe('held');
  });

  it('tells those who wait when the Lease is deleted', async () => {
    const { cluster, lock, stop } = setUp();
    await lock('a').tryAcquireOrRenew(60_000);
    let woken = 0;
    lock('b').onReleased(() => woken++);
    await waitFor(() => cluster.count('list') > 0);
    await new Promise((resolve) => setTimeout(resolve, 0));
    cluster.vanish(Lease, 'ns/leader');
    await waitFor(() => woken > 0);
    await stop();
  });

  it('needs a name, a namespace and an identity', () => {
    const { cluster: client } = setUp();
    const good = { client, identity: 'a', namespace: 'ns', name: 'n' };
    for (const missing of ['identity', 'namespace', 'name'])
      expect(() => new LeaseResourceLock({ ...good, [missing]: '' })).toThrow(InvalidOptionError);
  });
});
