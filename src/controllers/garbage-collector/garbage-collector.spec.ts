import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Node, Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { FakeCluster, refusal } from '../../testing/fake-cluster.js';
import type { OwnedObject, Tree } from './owner-tree.fixture.js';
import { deleteDeployment, putOwned, putTree, refTo } from './owner-tree.fixture.js';
import type { LeadingController } from '../../testing/run-controller.js';
import { runLeading } from '../../testing/run-controller.js';
import {
  createGarbageCollectorController,
  garbageCollectorController,
} from './garbage-collector-definition.js';

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
    expect(names(ReplicaSet)).toEqual([]);
    expect(names(Pod)).toEqual([]);
    expect(cluster.count('get')).toBe(0);
    expect(cluster.count('delete')).toBe(12);
  });

  it('deletes with the UID and the resourceVersion it decided on, in the background', async () => {
    const { replicaSet } = aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(Deployment, 'default/web');
    await gc.drain();
    const { uid, resourceVersion } = replicaSet.metadata;
    expect(cluster.requests.at(-1)?.deleteOptions).toMatchObject({
      preconditions: { uid, resourceVersion },
      propagationPolicy: 'Background',
    });
  });

  it('verifies by one uncached read an owner that it never saw, and remembers the answer', async () => {
    const ghost = put(ReplicaSet, 'ghost');
    cluster.vanish(ReplicaSet, 'default/ghost');
    for (const name of ['a', 'b', 'c']) put(Pod, name, [ghost]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(Pod)).toEqual([]);
    expect(cluster.count('get')).toBe(1);
  });

  it('takes an owner of the same name and another UID for absent', async () => {
    const first = put(ReplicaSet, 'web');
    cluster.vanish(ReplicaSet, 'default/web');
    put(ReplicaSet, 'web');
    put(Pod, 'old', [first]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(Pod)).toEqual([]);
    expect(names(ReplicaSet)).toEqual(['web']);
  });

  it('keeps a pod whose owner is newer than the cache', async () => {
    gc = await runLeading(garbageCollectorController, cluster);
    gc.informers.informerFor(Pod);
    gc.informers.pause();
    const owner = put(ReplicaSet, 'new');
    gc.informers.resume();
    put(Pod, 'child', [owner]);
    await gc.drain();
    expect(names(Pod)).toEqual(['child']);
  });

  it('drops the dangling reference and keeps the object when another owner lives', async () => {
    const gone = put(ReplicaSet, 'gone');
    const alive = put(ReplicaSet, 'alive');
    put(Pod, 'shared', [gone, alive]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(ReplicaSet, 'default/gone');
    await gc.drain();
    expect(owners(Pod, 'shared')).toEqual(['alive']);
    expect(cluster.count('delete')).toBe(0);
  });

  it('does not delete what was adopted while its cache was old', async () => {
    const gone = put(ReplicaSet, 'gone');
    const alive = put(ReplicaSet, 'alive');
    const pod = put(Pod, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(ReplicaSet, 'default/gone');
    gc.informers.pause();
    const adopted = { ...pod, metadata: { ...pod.metadata, ownerReferences: [refTo(alive)] } };
    await cluster.update(Pod, adopted);
    await gc.drain();
    expect(names(Pod)).toEqual(['pod']);
  });

  it('deletes in spite of a change that leaves the owners alone', async () => {
    const gone = put(ReplicaSet, 'gone');
    const pod = put(Pod, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(ReplicaSet, 'default/gone');
    gc.informers.pause();
    await cluster.update(Pod, { ...pod, metadata: { ...pod.metadata, labels: { changed: 'yes' } } });
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Pod)).toEqual([]);
  });

  it('does not let one type that fails hold up the others', async () => {
    const gone = put(Deployment, 'gone');
    put(ReplicaSet, 'set', [gone]);
    put(Pod, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.intercept = ({ verb, type }) =>
      verb === 'delete' && type.resource === 'replicasets'
        ? refusal(500, 'InternalError', 'broken')
        : undefined;
    cluster.vanish(Deployment, 'default/gone');
    const { errors } = await gc.drain();
    expect([...errors.keys()]).toEqual(['replicasets.apps|default/set']);
    expect(names(Pod)).toEqual([]);
  });
});

describe('foreground deletion', () => {
  const remove = (name: string) =>
    cluster.delete(Deployment, { namespace: 'default', name }, { propagationPolicy: 'Foreground' });

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
    const stored = put(Pod, 'bound', [replicaSet]);
    await cluster.update(Pod, { ...stored, ...pod });
    gc = await runLeading(garbageCollectorController, cluster);
    await remove('web');
    await gc.drain();
    expect([names(Deployment), names(ReplicaSet), names(Pod)]).toEqual([['web'], ['web-1'], ['bound']]);
    await cluster.delete(Pod, { namespace: 'default', name: 'bound' }, { gracePeriodSeconds: 0 });
    await gc.drain();
    expect([names(Deployment), names(ReplicaSet), names(Pod)]).toEqual([[], [], []]);
  });

  it('is taken up by a leader that was not there when it began', async () => {
    aTree(2);
    await remove('web');
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect([...names(Deployment), ...names(ReplicaSet), ...names(Pod)]).toEqual([]);
  });

  it('lets the owner go when the last dependent no longer names it', async () => {
    const owner = put(Deployment, 'web');
    const dependent = put(ReplicaSet, 'held', [owner], { finalizers: ['example.com/hold'] });
    gc = await runLeading(garbageCollectorController, cluster);
    await remove('web');
    await gc.drain();
    expect(names(Deployment)).toEqual(['web']);
    const body = { metadata: { ownerReferences: [] } };
    await cluster.patch(ReplicaSet, dependent.metadata, { type: 'merge', body });
    await gc.drain();
    expect(names(Deployment)).toEqual([]);
  });
});

describe('orphaning', () => {
  it('takes the owner out of its dependents, then lets it go, and deletes none of them', async () => {
    aTree(2);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Orphan');
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Deployment)).toEqual([]);
    expect(owners(ReplicaSet, 'web-1')).toEqual([]);
    expect(names(Pod)).toHaveLength(2);
  });

  it('keeps the owner while a dependent cannot be written, and orphans the others', async () => {
    const owner = put(Deployment, 'web');
    put(ReplicaSet, 'good', [owner]);
    put(ReplicaSet, 'bad', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.intercept = ({ verb, key }) =>
      verb === 'patch' && key === 'default/bad' ? refusal(500, 'InternalError', 'broken') : undefined;
    await deleteDeployment(cluster, 'Orphan');
    expect([...(await gc.drain()).errors.keys()]).toEqual(['deployments.apps|default/web']);
    expect(owners(ReplicaSet, 'good')).toEqual([]);
    expect(owners(ReplicaSet, 'bad')).toEqual(['web']);
  });

  it('reads a dependent again that changed since the cache saw it', async () => {
    const { replicaSet } = aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Orphan');
    gc.informers.pause();
    await cluster.update(ReplicaSet, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, labels: { changed: 'yes' } },
    });
    expect((await gc.drain()).errors.size).toBe(0);
    expect(cluster.peek(ReplicaSet, 'default/web-1')?.metadata).toMatchObject({
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
    put(Pod, 'pod', [job]);
    gc = await runLeading(createGarbageCollectorController({ unmonitoredRecheckMs: 60_000 }), cluster);
    await gc.drain();
    expect(gc.requeues.get('pods|default/pod')).toBe(60_000);
    cluster.vanish(jobs, 'default/job');
    gc.add('pods|default/pod');
    await gc.drain();
    expect(names(Pod)).toEqual([]);
  });

  it('leaves an object alone whose owner is of a kind that nobody knows', async () => {
    const job = put(jobs, 'job');
    put(Pod, 'pod', [job]);
    gc = await runLeading(garbageCollectorController, cluster);
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Pod)).toEqual(['pod']);
  });

  it('deletes an object whose owner lives in another namespace, with a warning', async () => {
    const owner = put(ReplicaSet, 'web', [], { namespace: 'other' });
    put(Pod, 'pod', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(Pod)).toEqual([]);
    expect(names(ReplicaSet)).toEqual(['web']);
    expect(gc.events).toEqual([
      `Warning OwnerRefInvalidNamespace ownerRef [apps/v1/ReplicaSet, namespace: default, name: web, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
    ]);
  });

  it('warns of each dependent whose owner is in another namespace, not only of the first', async () => {
    const owner = put(ReplicaSet, 'web', [], { namespace: 'other' });
    for (const name of ['a', 'b', 'c']) put(Pod, name, [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(Pod)).toEqual([]);
    expect(gc.events.filter((event) => event.includes('OwnerRefInvalidNamespace'))).toHaveLength(3);
  });

  it('does not hold a wrong reference against the right ones to the same owner', async () => {
    const owner = put(ReplicaSet, 'web', [], { namespace: 'other' });
    put(Pod, 'wrong', [owner]);
    put(Pod, 'right', [owner], { namespace: 'other' });
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    gc.add('pods|other/right');
    await gc.drain();
    expect(names(Pod)).toEqual(['right']);
  });

  it('does not take an owner for gone because another object with its UID went', async () => {
    const owner = put(ReplicaSet, 'web');
    put(Pod, 'pod', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    for (const [type, name, namespace] of [
      [ReplicaSet, 'forged', 'default'],
      [ReplicaSet, 'web', 'other'],
      [jobs, 'web', 'default'],
    ] as const) {
      put(type, name, [], { namespace, uid: owner.metadata.uid });
      await gc.drain();
      cluster.vanish(type, `${namespace}/${name}`);
      await gc.drain();
    }
    gc.add('pods|default/pod');
    await gc.drain();
    expect(names(Pod)).toEqual(['pod']);
    expect(names(ReplicaSet)).toEqual(['web']);
    cluster.vanish(ReplicaSet, 'default/web');
    await gc.drain();
    expect(names(Pod)).toEqual([]);
  });

  it('leaves a cluster-scoped object alone when the owner in a namespace that it names goes', async () => {
    const owner = put(ReplicaSet, 'web');
    put(Node, 'node', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    cluster.vanish(ReplicaSet, 'default/web');
    await gc.drain();
    expect(names(Node)).toEqual(['node']);
  });

  it('lets no object of another namespace hold up a deletion in the foreground', async () => {
    const owner = put(ReplicaSet, 'web', [], {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['foregroundDeletion'],
    });
    put(Pod, 'stranger', [owner], { namespace: 'other', finalizers: ['example.com/hold'] });
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(ReplicaSet)).toEqual([]);
  });

  it('leaves a cluster-scoped object alone that names an owner in a namespace, with a warning', async () => {
    const owner = put(ReplicaSet, 'web');
    put(Node, 'node', [owner]);
    gc = await runLeading(garbageCollectorController, cluster);
    await gc.drain();
    expect(names(Node)).toEqual(['node']);
    expect(gc.events[0]).toContain('OwnerRefInvalidNamespace');
  });
});
