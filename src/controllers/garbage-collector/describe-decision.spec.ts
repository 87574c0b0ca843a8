import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import type { OwnedObject, Tree } from './owner-tree.fixture.js';
import { deleteDeployment, putOwned, putTree, refTo } from './owner-tree.fixture.js';
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

describe('its decision is reported with its reasons', () => {
  const told = (summary: string) => gc.decisions.find((decision) => decision.summary === summary);

  it('with how the owners are, and how many dependents there are', async () => {
    aTree(2);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(Deployment, 'default/web');
    await gc.drain();
    expect(told('delete ReplicaSet default/web-1 (Background)')).toMatchObject({
      branch: 'delete',
      changes: true,
      routine: false,
      inputs: {
        'rollkeeper.owners.dangling': 1,
        'rollkeeper.owners.solid': 0,
        'rollkeeper.dependents': 2,
        'rollkeeper.being_deleted': false,
      },
    });
    expect(told('delete Pod default/web-1-0 (Background)')).toMatchObject({ changes: true, routine: true });
  });

  it('with the names that an owner waits for, until it lets go', async () => {
    aTree(3);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Foreground');
    await gc.drain();
    expect(gc.decisions).toContainEqual(
      expect.objectContaining({
        branch: 'wait-for-dependents',
        changes: false,
        inputs: expect.objectContaining({
          'rollkeeper.dependents.blocking': 1,
          'rollkeeper.being_deleted': true,
        }),
      }),
    );
    expect(told('remove finalizer foregroundDeletion of Deployment default/web')).toMatchObject({
      branch: 'remove-finalizer',
      changes: true,
    });
  });

  it('says that nothing changes, or that it could not find out', async () => {
    aTree(0);
    const ghost = { ...put(ReplicaSet, 'ghost'), apiVersion: 'example.com/v1', kind: 'Unheard' };
    put(Pod, 'strange', [ghost]);
    gc = await runLeading(garbageCollectorController, cluster);
    gc.add('replicasets.apps|default/web-1');
    gc.add('pods|default/strange');
    await gc.drain();
    expect(gc.decisions.map(({ branch, changes, summary }) => [branch, changes, summary])).toEqual(
      expect.arrayContaining([
        ['keep', false, ''],
        ['leave-alone', false, ''],
      ]),
    );
  });

  it('once more for what it found when the cache turned out to be old', async () => {
    const gone = put(ReplicaSet, 'gone');
    const alive = put(ReplicaSet, 'alive');
    const pod = put(Pod, 'pod', [gone]);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(ReplicaSet, 'default/gone');
    gc.informers.pause();
    await cluster.update(Pod, { ...pod, metadata: { ...pod.metadata, ownerReferences: [refTo(alive)] } });
    await gc.drain();
    expect(gc.decisions.map(({ branch }) => branch)).toEqual(['delete', 'keep']);
  });
});
