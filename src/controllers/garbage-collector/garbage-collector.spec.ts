import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { DEPLOYMENTS, NODES, PODS, REPLICA_SETS } from '../../machinery/kubernetes/index.js';
import { FakeCluster, refusal } from '../../testing/fake-cluster.js';
import type { OwnedObject, Tree } from '../../testing/owner-tree.js';
import { deleteDeployment, putOwned, putTree, refTo } from '../../testing/owner-tree.js';
import type { LeadingController } from '../../testing/run-controller.js';
import { runLeading } from '../../testing/run-controller.js';
import { createGarbageCollectorController, garbageCollectorController } from './index.js';

let cluster: FakeCluster;
let gc: LeadingController;

beforeEach(() => {
  cluster = new FakeCluster();
});

afterEach(() => gc.stop());

const put = (...args: OwnedObject) => putOwned(cluster, ...args);
const aTree = (...args: Tree) => putTree(cluster, ...args);
const names = (type: ResourceType): string[] => cluster.all(type).map((object) => object.metadata.name);
const owners = (type: ResourceType, key: string) =>
  cluster.peek(type, `default/${key}`)?.metadata.ownerReferences?.map(({ name }) => name);

describe('the garbage collector', () => {
  it('leaves a living tree alone and asks the server nothing', async () => {
    aTree();
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(cluster.requests).toEqual([]);
  });

  it('deletes ReplicaSets and pods of a Deployment deleted in the background, without a single read', async () => {
    aTree(10);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Background');
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(REPLICA_SETS)).toEqual([]);
    expect(names(PODS)).toEqual([]);
    expect(cluster.count('get')).toBe(0);
    expect(cluster.count('delete')).toBe(12);
  });

  it('deletes with the UID and the resourceVersion it decided on, in the background', async () => {
    const { replicaSet } = aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(DEPLOYMENTS, 'default/web');
    await gc.drain();
    const { uid, resourceVersion } = replicaSet.metadata;
    expect(cluster.requests.at(-1)?.deleteOptions).toMatchObject({
      preconditions: { uid, resourceVersion },
      propagationPolicy: 'Background',
    });
  });

  it('verifies by one uncached read an owner that it never saw, and remembers the answer', async () => {
    const ghost = put(REPLICA_SETS, 'ghost');
    cluster.vanish(REPLICA_SETS, 'default/ghost');
    for (const name of ['a', 'b', 'c']) put(PODS, name, [ghost]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(PODS)).toEqual([]);
    expect(cluster.count('get')).toBe(1);
  });

  it('takes an owner of the same name and another UID for absent', async () => {
    const first = put(REPLICA_SETS, 'web');
    cluster.vanish(REPLICA_SETS, 'default/web');
    put(REPLICA_SETS, 'web');
    put(PODS, 'old', [first]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(PODS)).toEqual([]);
    expect(names(REPLICA_SETS)).toEqual(['web']);
  });

  it('keeps a pod whose owner is newer than the cache', async () => {
    gc = await runLeading(garbageCollectorController, cluster);
    gc.informers.informerFor(PODS);
    gc.informers.pause();
    const owner = put(REPLICA_SETS, 'new');
    gc.informers.resume();
    put(PODS, 'child', [owner]);
    await gc.drain();
    expect(names(PODS)).toEqual(['child']);
  });

  it('drops the dangling reference and keeps the object when another owner lives', async () => {
    const gone = put(REPLICA_SETS, 'gone');
    const alive = put(REPLICA_SETS, 'alive');
    put(PODS, 'shared', [gone, alive]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(REPLICA_SETS, 'default/gone');
    await gc.drain();
    expect(owners(PODS, 'shared')).toEqual(['alive']);
    expect(cluster.count('delete')).toBe(0);
  });

  it('does not delete what was adopted while its cache was old', async () => {
    const gone = put(REPLICA_SETS, 'gone');
    const alive = put(REPLICA_SETS, 'alive');
    const pod = put(PODS, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(REPLICA_SETS, 'default/gone');
    gc.informers.pause();
    const adopted = { ...pod, metadata: { ...pod.metadata, ownerReferences: [refTo(alive)] } };
    await cluster.update(PODS, adopted);
    await gc.drain();
    expect(names(PODS)).toEqual(['pod']);
  });

  it('deletes in spite of a change that leaves the owners alone', async () => {
    const gone = put(REPLICA_SETS, 'gone');
    const pod = put(PODS, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(REPLICA_SETS, 'default/gone');
    gc.informers.pause();
    await cluster.update(PODS, { ...pod, metadata: { ...pod.metadata, labels: { changed: 'yes' } } });
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(PODS)).toEqual([]);
  });

  it('does not let one type that fails hold up the others', async () => {
    const gone = put(DEPLOYMENTS, 'gone');
    put(REPLICA_SETS, 'set', [gone]);
    put(PODS, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.intercept = ({ verb, type }) =>
      verb === 'delete' && type.resource === 'replicasets'
        ? refusal(500, 'InternalError', 'broken')
        : undefined;
    cluster.vanish(DEPLOYMENTS, 'default/gone');
    const { errors } = await gc.drain();
    expect([...errors.keys()]).toEqual(['replicasets.apps|default/set']);
    expect(names(PODS)).toEqual([]);
  });
});

describe('foreground deletion', () => {
  const remove = (name: string) =>
    cluster.delete(DEPLOYMENTS, { namespace: 'default', name }, { propagationPolicy: 'Foreground' });

  it('deletes the leaves first and the root last', async () => {
    aTree(3);
    gc = await runLeading(garbageCollectorController, cluster);
    const order: string[] = [];
    cluster.onEvent((type, event) => {
      if (event.type === 'DELETED') order.push(type.resource);
    });
    await remove('web');
    expect((await gc.drain()).errors.size).toBe(0);
    expect(order).toEqual(['pods', 'pods', 'pods', 'replicasets', 'deployments']);
  });

  it('keeps the owners until a terminating pod is really gone', async () => {
    const { replicaSet } = aTree(0);
    const pod = { spec: { nodeName: 'node-0', containers: [] } };
    const stored = put(PODS, 'bound', [replicaSet]);
    await cluster.update(PODS, { ...stored, ...pod });
    gc = await runLeading(garbageCollectorController, cluster);
    await remove('web');
    await gc.drain();
    expect([names(DEPLOYMENTS), names(REPLICA_SETS), names(PODS)]).toEqual([['web'], ['web-1'], ['bound']]);
    await cluster.delete(PODS, { namespace: 'default', name: 'bound' }, { gracePeriodSeconds: 0 });
    await gc.drain();
    expect([names(DEPLOYMENTS), names(REPLICA_SETS), names(PODS)]).toEqual([[], [], []]);
  });

  it('is taken up by a leader that was not there when it began', async () => {
    aTree(2);
    await remove('web');
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect([...names(DEPLOYMENTS), ...names(REPLICA_SETS), ...names(PODS)]).toEqual([]);
  });

  it('lets the owner go when the last dependent no longer names it', async () => {
    const owner = put(DEPLOYMENTS, 'web');
    const dependent = put(REPLICA_SETS, 'held', [owner], { finalizers: ['example.com/hold'] });
    gc = await runLeading(garbageCollectorController, cluster);
    await remove('web');
    await gc.drain();
    expect(names(DEPLOYMENTS)).toEqual(['web']);
    const body = { metadata: { ownerReferences: [] } };
    await cluster.patch(REPLICA_SETS, dependent.metadata, { type: 'merge', body });
    await gc.drain();
    expect(names(DEPLOYMENTS)).toEqual([]);
  });
});

describe('orphaning', () => {
  it('takes the owner out of its dependents, then lets it go, and deletes none of them', async () => {
    aTree(2);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Orphan');
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(DEPLOYMENTS)).toEqual([]);
    expect(owners(REPLICA_SETS, 'web-1')).toEqual([]);
    expect(names(PODS)).toHaveLength(2);
  });

  it('keeps the owner while a dependent cannot be written, and orphans the others', async () => {
    const owner = put(DEPLOYMENTS, 'web');
    put(REPLICA_SETS, 'good', [owner]);
    put(REPLICA_SETS, 'bad', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.intercept = ({ verb, key }) =>
      verb === 'patch' && key === 'default/bad' ? refusal(500, 'InternalError', 'broken') : undefined;
    await deleteDeployment(cluster, 'Orphan');
    expect([...(await gc.drain()).errors.keys()]).toEqual(['deployments.apps|default/web']);
    expect(owners(REPLICA_SETS, 'good')).toEqual([]);
    expect(owners(REPLICA_SETS, 'bad')).toEqual(['web']);
  });

  it('reads a dependent again that changed since the cache saw it', async () => {
    const { replicaSet } = aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Orphan');
    gc.informers.pause();
    await cluster.update(REPLICA_SETS, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, labels: { changed: 'yes' } },
    });
    expect((await gc.drain()).errors.size).toBe(0);
    expect(cluster.peek(REPLICA_SETS, 'default/web-1')?.metadata).toMatchObject({
      ownerReferences: [],
      labels: { changed: 'yes' },
    });
  });
});

describe('owners that are out of sight', () => {
  const jobs: ResourceType = {
    group: 'batch',
    version: 'v1',
    resource: 'jobs',
    kind: 'Job',
    namespaced: true,
  };

  it('finds their type by discovery, and looks at them again after a while', async () => {
    cluster.discovered.push({ ...jobs, verbs: ['get', 'list'] });
    const job = put(jobs, 'job');
    put(PODS, 'pod', [job]);
    gc = await runLeading(createGarbageCollectorController({ unmonitoredRecheckMs: 60_000 }), cluster);
    await gc.drain();
    expect(gc.requeues.get('pods|default/pod')).toBe(60_000);
    cluster.vanish(jobs, 'default/job');
    gc.add('pods|default/pod');
    await gc.drain();
    expect(names(PODS)).toEqual([]);
  });

  it('leaves an object alone whose owner is of a kind that nobody knows', async () => {
    const job = put(jobs, 'job');
    put(PODS, 'pod', [job]);
    gc = await runLeading(garbageCollectorController, cluster);
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(PODS)).toEqual(['pod']);
  });

  it('deletes an object whose owner lives in another namespace, with a warning', async () => {
    const owner = put(REPLICA_SETS, 'web', [], { namespace: 'other' });
    put(PODS, 'pod', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(PODS)).toEqual([]);
    expect(names(REPLICA_SETS)).toEqual(['web']);
    expect(gc.events).toEqual([
      `Warning OwnerRefInvalidNamespace ownerRef [apps/v1/ReplicaSet, namespace: default, name: web, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
    ]);
  });

  it('warns of each dependent whose owner is in another namespace, not only of the first', async () => {
    const owner = put(REPLICA_SETS, 'web', [], { namespace: 'other' });
    for (const name of ['a', 'b', 'c']) put(PODS, name, [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(PODS)).toEqual([]);
    expect(gc.events.filter((event) => event.includes('OwnerRefInvalidNamespace'))).toHaveLength(3);
  });

  it('does not hold a wrong reference against the right ones to the same owner', async () => {
    const owner = put(REPLICA_SETS, 'web', [], { namespace: 'other' });
    put(PODS, 'wrong', [owner]);
    put(PODS, 'right', [owner], { namespace: 'other' });
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    gc.add('pods|other/right');
    await gc.drain();
    expect(names(PODS)).toEqual(['right']);
  });

  it('does not take an owner for gone because another object with its UID went', async () => {
    const owner = put(REPLICA_SETS, 'web');
    put(PODS, 'pod', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    for (const [type, name, namespace] of [
      [REPLICA_SETS, 'forged', 'default'],
      [REPLICA_SETS, 'web', 'other'],
      [jobs, 'web', 'default'],
    ] as const) {
      put(type, name, [], { namespace, uid: owner.metadata.uid });
      await gc.drain();
      cluster.vanish(type, `${namespace}/${name}`);
      await gc.drain();
    }
    gc.add('pods|default/pod');
    await gc.drain();
    expect(names(PODS)).toEqual(['pod']);
    expect(names(REPLICA_SETS)).toEqual(['web']);
    cluster.vanish(REPLICA_SETS, 'default/web');
    await gc.drain();
    expect(names(PODS)).toEqual([]);
  });

  it('leaves a cluster-scoped object alone when the owner in a namespace that it names goes', async () => {
    const owner = put(REPLICA_SETS, 'web');
    put(NODES, 'node', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    cluster.vanish(REPLICA_SETS, 'default/web');
    await gc.drain();
    expect(names(NODES)).toEqual(['node']);
  });

  it('lets no object of another namespace hold up a deletion in the foreground', async () => {
    const owner = put(REPLICA_SETS, 'web', [], {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['foregroundDeletion'],
    });
    put(PODS, 'stranger', [owner], { namespace: 'other', finalizers: ['example.com/hold'] });
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(REPLICA_SETS)).toEqual([]);
  });

  it('leaves a cluster-scoped object alone that names an owner in a namespace, with a warning', async () => {
    const owner = put(REPLICA_SETS, 'web');
    put(NODES, 'node', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(NODES)).toEqual(['node']);
    expect(gc.events[0]).toContain('OwnerRefInvalidNamespace');
  });
});
