import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import type { OwnedObject, Tree } from './owner-tree.fixture.js';
import { deleteDeployment, putOwned, putTree } from './owner-tree.fixture.js';
import type { LeadingController } from '../../testing/run-controller.js';
import { runLeading } from '../../testing/run-controller.js';
import { garbageCollectorController } from './garbage-collector-definition.js';

let cluster: FakeCluster;
let gc: LeadingController;
const put = (...args: OwnedObject) => putOwned(cluster, ...args);
const aTree = (...args: Tree) => putTree(cluster, ...args);

beforeEach(() => {
  cluster = new FakeCluster();
});

afterEach(() => gc.stop());

describe('the keys of the sweep for lost keys', () => {
  const due = () => [...(gc.built.due?.() ?? [])].map(({ ref }) => `${ref.namespace}/${ref.name}`);

  it('is what an owner that was seen to go has left behind', async () => {
    aTree(2);
    gc = await runLeading(garbageCollectorController, cluster);
    expect(due()).toEqual([]);
    cluster.vanish(Deployment, 'default/web');
    expect(due()).toEqual(['replicasets.apps|default/web-1']);
    await gc.drain();
    expect(due()).toEqual([]);
  });

  it('is an owner that waits for nothing any more', async () => {
    aTree(0);
    put(Deployment, 'alone');
    gc = await runLeading(garbageCollectorController, cluster);
    for (const name of ['web', 'alone']) await deleteDeployment(cluster, 'Foreground', name);
    expect(due()).toEqual(['deployments.apps|default/alone']);
    await gc.drain();
    expect(due()).toEqual([]);
  });

  it('is nothing of which only the server knows', async () => {
    const ghost = put(ReplicaSet, 'ghost');
    cluster.vanish(ReplicaSet, 'default/ghost');
    put(Pod, 'orphan', [ghost]);
    gc = await runLeading(garbageCollectorController, cluster);
    expect(due()).toEqual([]);
  });
});
