import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import {
  Deployment,
  Event,
  Lease,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  ServiceAccount,
  keyOf,
} from '../../machinery/kubernetes/index.js';
import { FakeCluster, refusal, served } from '../../testing/fake-cluster.js';
import { FakeInformers } from '../../testing/fake-informers.js';
import type { OwnedObject } from './owner-tree.fixture.js';
import { putOwned } from './owner-tree.fixture.js';
import type { LeadingController } from '../../testing/run-controller.js';
import { runLeading } from '../../testing/run-controller.js';
import { garbageCollectorController } from './garbage-collector-definition.js';

const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};
const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const FORBIDDEN = { code: 403, reason: 'widgets.example.com is forbidden' };
/** The answer of a server without such a path. */
const noSuchPath = () => refusal(404, 'NotFound', 'the server could not find the requested resource');

let cluster: FakeCluster;
let informers: FakeInformers;
let gc: LeadingController;

beforeEach(() => {
  cluster = new FakeCluster();
  informers = new FakeInformers(cluster);
});

afterEach(() => gc.stop());

const start = async () => (gc = await runLeading(garbageCollectorController, cluster, { informers }));
const put = (...args: OwnedObject) => putOwned(cluster, ...args);
const names = (type: ResourceType): string[] => cluster.all(type).map(({ metadata }) => metadata.name);
const unreadable = () => gc.built.unreadable?.().map(({ resource }) => resource);

describe('an object of any kind', () => {
  const KINDS = [Namespace, Node, Lease, ServiceAccount, WIDGETS].map((type) => ({
    kind: type.kind,
    type,
  }));
  beforeEach(() => void cluster.discovered.push(...served(WIDGETS)));

  it.each(KINDS)(
    'goes when it is deleted in the foreground, after its dependents: $kind',
    async ({ type }) => {
      const owner = put(type, 'owner');
      put(Lease, 'dependent', [owner]);
      await start();
      const order: string[] = [];
      cluster.onEvent(
        (_, event) => void (event.type === 'DELETED' && order.push(event.object.metadata.name)),
      );
      await cluster.delete(type, owner.metadata, { propagationPolicy: 'Foreground' });
      expect((await gc.drain()).errors.size).toBe(0);
      expect(order).toEqual(['dependent', 'owner']);
    },
  );

  it.each(KINDS)(
    'goes when it is deleted as an orphan maker, and leaves its dependents: $kind',
    async ({ type }) => {
      const owner = put(type, 'owner');
      const dependent = put(Lease, 'dependent', [owner]);
      await start();
      await cluster.delete(type, owner.metadata, { propagationPolicy: 'Orphan' });
      expect((await gc.drain()).errors.size).toBe(0);
      expect(cluster.peek(type, keyOf(owner.metadata))).toBeUndefined();
      expect(cluster.peek(Lease, keyOf(dependent.metadata))?.metadata.ownerReferences).toEqual([]);
    },
  );

  it.each(KINDS)('takes its dependents along when it is gone: $kind', async ({ type }) => {
    const owner = put(type, 'owner');
    put(ServiceAccount, 'dependent', [owner]);
    await start();
    await cluster.delete(type, owner.metadata, { propagationPolicy: 'Background' });
    await gc.drain();
    expect(names(ServiceAccount)).not.toContain('dependent');
  });

  it('keeps its dependents when they name it by another version of its kind', async () => {
    const owner = put(WIDGETS, 'owner');
    put(Lease, 'dependent', [{ ...owner, apiVersion: 'example.com/v1alpha1' }]);
    await start();
    await gc.drain();
    expect(names(Lease)).toEqual(['dependent']);
    expect(cluster.count('get')).toBe(0);
  });

  it('is nothing that the collector asks for more of than its metadata', async () => {
    const ghost = put(WIDGETS, 'ghost');
    cluster.vanish(WIDGETS, 'default/ghost');
    put(Lease, 'dependent', [ghost]);
    await start();
    await gc.drain();
    expect(names(Lease)).toEqual([]);
    expect(cluster.requests.filter(({ verb }) => verb === 'get')).toMatchObject([{ metadataOnly: true }]);
  });
});

describe('events', () => {
  it('are not followed: there are too many, and they own nothing', async () => {
    const ghost = put(Deployment, 'ghost');
    cluster.vanish(Deployment, 'default/ghost');
    put(Event, 'event', [ghost]);
    await start();
    await gc.drain();
    expect(names(Event)).toEqual(['event']);
    expect(informers.metadataTypes).not.toContain('events');
  });
});

describe('caches of others that are used', () => {
  it('is not cached twice', async () => {
    for (const type of [Deployment, ReplicaSet, Pod]) informers.informerFor(type);
    await start();
    expect([...informers.metadataTypes].sort()).toEqual([
      'leases.coordination.k8s.io',
      'namespaces',
      'nodes',
      'serviceaccounts',
    ]);
    const owner = put(Deployment, 'web');
    put(Pod, 'pod', [owner]);
    cluster.vanish(Deployment, 'default/web');
    await gc.drain();
    expect(names(Pod)).toEqual([]);
  });
});

describe('a kind that cannot be read', () => {
  beforeEach(() => {
    cluster.discovered.push(...served(WIDGETS));
    informers.refuse(WIDGETS, FORBIDDEN);
  });

  it('is named, and holds nothing else back', async () => {
    await start();
    expect(gc.built.unreadable?.()).toEqual([{ resource: 'widgets.example.com', reason: FORBIDDEN.reason }]);
    const owner = put(Node, 'node');
    put(Lease, 'lease', [owner]);
    await cluster.delete(Node, { name: 'node' }, { propagationPolicy: 'Foreground' });
    expect((await gc.drain()).errors.size).toBe(0);
    expect([...names(Node), ...names(Lease)]).toEqual([]);
    expect(gc.built.informerOf?.('widgets.example.com')).toBeUndefined();
  });

  it('keeps its dependents, whose owners nobody can look at, and looks at them again', async () => {
    const owner = put(WIDGETS, 'owner');
    put(Lease, 'lease', [owner]);
    cluster.intercept = ({ verb, type }) =>
      verb === 'get' && type.kind === 'Widget' ? refusal(403, 'Forbidden', 'you may not') : undefined;
    await start();
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Lease)).toEqual(['lease']);
    expect(gc.requeues.get('leases.coordination.k8s.io|default/lease')).toBe(120_000);
  });

  it('is followed as soon as it can be', async () => {
    const ghost = put(Node, 'ghost');
    cluster.vanish(Node, 'ghost');
    put(WIDGETS, 'widget', [ghost]);
    await start();
    await gc.drain();
    expect(names(WIDGETS)).toEqual(['widget']);
    informers.allow(WIDGETS);
    await gc.drain();
    expect(names(WIDGETS)).toEqual([]);
    expect(unreadable()).toEqual([]);
  });
});

describe('a kind that is not served any more', () => {
  beforeEach(() => void cluster.discovered.push(...served(WIDGETS)));

  const withdraw = async () => {
    cluster.discovered = cluster.discovered.filter(({ kind }) => kind !== 'Widget');
    await gc.clock.advance(30_000);
  };

  it('is dropped, and its objects are not taken for deleted', async () => {
    const owner = put(WIDGETS, 'owner');
    put(Lease, 'lease', [owner]);
    await start();
    expect(informers.metadataTypes).toContain('widgets.example.com');
    await withdraw();
    expect(informers.metadataTypes).not.toContain('widgets.example.com');
    gc.add('leases.coordination.k8s.io|default/lease');
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Lease)).toEqual(['lease']);
  });

  it('says nothing of an owner while the server has no path to it and discovery is not asked again yet', async () => {
    const owner = put(WIDGETS, 'owner');
    await start();
    informers.pause();
    cluster.vanish(WIDGETS, 'default/owner');
    informers.resume();
    cluster.intercept = ({ verb, type }) =>
      verb === 'get' && type.kind === 'Widget' ? noSuchPath() : undefined;
    put(Lease, 'lease', [{ ...owner, metadata: { ...owner.metadata, uid: 'never-seen' } }]);
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Lease)).toEqual(['lease']);
  });

  it('lets an owner go that waits for one of its objects', async () => {
    const owner = put(Node, 'node');
    put(WIDGETS, 'held', [owner], { finalizers: ['example.com/hold'] });
    await start();
    await cluster.delete(Node, { name: 'node' }, { propagationPolicy: 'Foreground' });
    await gc.drain();
    expect(names(Node)).toEqual(['node']);
    await withdraw();
    await gc.drain();
    expect(names(Node)).toEqual([]);
  });

  it('is kept while its group cannot be asked', async () => {
    await start();
    cluster.failedGroups = [{ groupVersion: 'example.com/v1', error: new Error('the service is away') }];
    await withdraw();
    expect(informers.metadataTypes).toContain('widgets.example.com');
    expect(gc.built.unreadable?.()).toEqual([{ resource: 'example.com/v1', reason: 'the service is away' }]);
  });
});

describe('a kind that appears', () => {
  const appear = () => void cluster.discovered.push(...served(WIDGETS));

  it('is followed within half a minute', async () => {
    await start();
    appear();
    await gc.clock.advance(30_000);
    const owner = put(WIDGETS, 'owner');
    put(Lease, 'lease', [owner]);
    await cluster.delete(WIDGETS, owner.metadata, { propagationPolicy: 'Foreground' });
    await gc.drain();
    expect([...names(WIDGETS), ...names(Lease)]).toEqual([]);
  });

  it('is followed within a second or two when its definition was seen', async () => {
    cluster.discovered.push(...served(DEFINITIONS));
    await start();
    appear();
    put(DEFINITIONS, 'widgets.example.com');
    await gc.clock.advance(2_000);
    expect(informers.metadataTypes).toContain('widgets.example.com');
  });

  it('takes with it what its objects owned that went before it was followed', async () => {
    const [gone, kept] = [put(WIDGETS, 'gone'), put(WIDGETS, 'kept')];
    put(Lease, 'of-the-gone', [gone]);
    put(Lease, 'of-the-kept', [kept]);
    await start();
    cluster.vanish(WIDGETS, 'default/gone');
    await gc.drain();
    expect(names(Lease)).toEqual(['of-the-gone', 'of-the-kept']);
    appear();
    await gc.clock.advance(30_000);
    expect((await gc.drain()).errors.size).toBe(0);
    expect(names(Lease)).toEqual(['of-the-kept']);
  });

  it('does not ask again and again for a burst of definitions', async () => {
    cluster.discovered.push(...served(DEFINITIONS));
    await start();
    const discover = vi.spyOn(cluster, 'discover');
    for (let index = 0; index < 200; index++) put(DEFINITIONS, `kind${index}.example.com`);
    await gc.clock.advance(2_000);
    expect(discover).toHaveBeenCalledTimes(1);
  });

  it('is waited for by who orphans its dependents, until it has been listed', async () => {
    const owner = put(Node, 'node');
    await start();
    const hanging = put(WIDGETS, 'widget', [owner]);
    informers.refuse(WIDGETS, { reason: 'no answer yet' });
    appear();
    await gc.clock.advance(30_000);
    await cluster.delete(Node, { name: 'node' }, { propagationPolicy: 'Orphan' });
    await gc.drain();
    expect(names(Node)).toEqual(['node']);
    expect(gc.requeues.get('nodes|/node')).toBe(500);
    informers.allow(WIDGETS);
    gc.add('nodes|/node');
    await gc.drain();
    expect(names(Node)).toEqual([]);
    expect(cluster.peek(WIDGETS, keyOf(hanging.metadata))?.metadata.ownerReferences).toEqual([]);
  });

  it('is waited for no longer than half a minute', async () => {
    await start();
    informers.refuse(WIDGETS, { reason: 'no answer yet' });
    appear();
    await gc.clock.advance(30_000);
    expect(unreadable()).toEqual([]);
    await gc.clock.advance(30_000);
    expect(unreadable()).toEqual(['widgets.example.com']);
  });
});

describe('the leading work', () => {
  it('leaves nothing running when it ends, and begins again with the next lease', async () => {
    put(Lease, 'lease', [put(Node, 'node')]);
    await start();
    await gc.stop();
    expect(informers.metadataTypes).toEqual([]);
    expect(gc.clock.pendingTimers).toBe(0);
    const again = new AbortController();
    const leading = gc.built.leading?.run(again.signal);
    await gc.built.leading?.waitUntilReady(again.signal);
    expect(informers.metadataTypes).toContain('nodes');
    cluster.vanish(Node, 'node');
    gc.add('leases.coordination.k8s.io|default/lease');
    await gc.drain();
    expect(names(Lease)).toEqual([]);
    again.abort();
    await leading;
  });
});
