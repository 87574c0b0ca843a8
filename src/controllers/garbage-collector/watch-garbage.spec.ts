import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import type { OwnedObject, Tree } from './owner-tree.fixture.js';
import { deleteDeployment, putOwned, putTree } from './owner-tree.fixture.js';
import type { LeadingController } from '../../testing/run-controller.js';
import { runLeading } from '../../testing/run-controller.js';
import { garbageCollectorController } from './garbage-collector-definition.js';

const GONE = { name: 'web', namespace: 'default', uid: 'gone-long-ago' };

let cluster: FakeCluster;
let gc: LeadingController;
const put = (...args: OwnedObject) => putOwned(cluster, ...args);
const aTree = (...args: Tree) => putTree(cluster, ...args);

beforeEach(() => {
  cluster = new FakeCluster();
});

afterEach(() => gc.stop());

describe('the causes of a key', () => {
  it('passes with each key the state that has to be seen first, and its type', async () => {
    aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(Deployment, 'default/web');
    expect(gc.enqueued).toMatchObject([
      {
        ref: { namespace: 'replicasets.apps|default', name: 'web-1' },
        cause: { type: Deployment },
        priority: 'normal',
      },
    ]);
    expect(gc.enqueued[0]?.delayMs).toBeUndefined();
  });

  it('gives an owner that is not there yet a moment, unless it should have been listed by now', async () => {
    const ghost = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: GONE };
    put(ReplicaSet, 'listed', [ghost]);
    gc = await runLeading(garbageCollectorController, cluster);
    put(ReplicaSet, 'created', [ghost]);
    const delays = gc.enqueued.map(({ delayMs, ref, reason }) => [ref.name, reason, delayMs]);
    expect(delays).toEqual([
      ['listed', 'initial-list', undefined],
      ['created', 'child-change', 1000],
    ]);
  });

  it('asks of whoever looks to know the object itself, that its owner is gone, and its dependents', async () => {
    const { replicaSet } = aTree(2);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(Deployment, 'default/web');
    const pods = cluster.all(Pod).map(({ metadata }) => metadata.resourceVersion);
    const [{ cause, mustHaveSeen = [] } = {}] = gc.enqueued;
    const seen = (type: ResourceType) =>
      mustHaveSeen
        .filter((state) => state.type.resource === type.resource)
        .map(({ resourceVersion }) => resourceVersion);
    expect(seen(ReplicaSet)).toEqual([replicaSet.metadata.resourceVersion]);
    expect(seen(Deployment)).toEqual([cause?.resourceVersion]);
    expect(seen(Pod)).toEqual(pods);
  });

  it('records what happened to which object, for the trace', async () => {
    aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Foreground');
    const { change } = gc.enqueued[0] ?? {};
    expect(change).toMatchObject({
      type: 'modified',
      object: { kind: 'Deployment', metadata: { name: 'web' } },
    });
    expect(change?.type === 'modified' && change.old.metadata.deletionTimestamp).toBeUndefined();
  });

  it('asks for the deletion of the owner, not for what has happened to its type since', async () => {
    aTree(0);
    gc = await runLeading(garbageCollectorController, cluster);
    cluster.vanish(Deployment, 'default/web');
    const [{ cause } = {}] = gc.enqueued;
    put(Deployment, 'newer');
    const late = put(ReplicaSet, 'late', [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: GONE }]);
    expect(gc.enqueued.at(-1)?.mustHaveSeen).toEqual([
      { type: ReplicaSet, resourceVersion: late.metadata.resourceVersion },
      { type: Deployment, resourceVersion: cause?.resourceVersion },
    ]);
  });

  it('does not go through all dependents for each of them that goes', async () => {
    aTree(3);
    gc = await runLeading(garbageCollectorController, cluster);
    await deleteDeployment(cluster, 'Foreground');
    await gc.drain();
    const owners = gc.enqueued.filter(
      ({ change, ref }) => change?.type === 'deleted' && ref.name === 'web-1',
    );
    expect(owners.length).toBeGreaterThan(0);
    for (const { mustHaveSeen = [] } of owners)
      expect(mustHaveSeen.filter(({ type }) => type.resource === Pod.resource)).toEqual([]);
  });
});
