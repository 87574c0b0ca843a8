import { afterEach, describe, expect, it } from 'vitest';
import type { KubernetesObject, ResourceType } from '../../machinery/kubernetes/index.js';
import {
  Deployment,
  Lease,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  ServiceAccount,
} from '../../machinery/kubernetes/index.js';
import { refusal, served } from '../../testing/fake-cluster.js';
import type { OwnedObject } from './owner-tree.fixture.js';
import { putOwned } from './owner-tree.fixture.js';
import { NAMESPACES, SLOTS, SLOT_OF_NONE, SlottedCollectors } from './slotted-collectors.fixture.js';

const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};
const GADGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'gadgets',
  kind: 'Gadget',
  namespaced: false,
};
const ALL = Array.from({ length: SLOTS }, (_, slot) => slot);
const THIRDS = [0, 1, 2].map((rest) => ALL.filter((slot) => slot % 3 === rest));

let collectors: SlottedCollectors;

afterEach(() => collectors.stop());

/** Three replicas, each with a third of the slots, and a standby of the next one's. */
function make(): SlottedCollectors {
  collectors = new SlottedCollectors(['a', 'b', 'c']);
  collectors.cluster.discovered.push(...served(WIDGETS));
  return collectors;
}

const share = (): void =>
  collectors.replicas.forEach((replica, index) => replica.hold(THIRDS[index]!, THIRDS[(index + 1) % 3]));
const put = (...args: OwnedObject): KubernetesObject => putOwned(collectors.cluster, ...args);
const names = (type: ResourceType): string[] =>
  collectors.cluster.all(type).map(({ metadata: { name, namespace = '' } }) => `${namespace}/${name}`);
const ownersOf = (type: ResourceType): number =>
  collectors.cluster
    .all(type)
    .reduce((sum, { metadata }) => sum + (metadata.ownerReferences ?? []).length, 0);
const deletions = (): string[] => {
  const order: string[] = [];
  collectors.cluster.onEvent(
    (_, event) => void (event.type === 'DELETED' && order.push(event.object.metadata.name)),
  );
  return order;
};
const holderOf = (slot: number) => collectors.replicas.find(({ held }) => held.begun.has(slot))!;

describe('garbage collectors that share the slots', () => {
  it('keep the metadata of the slots that they hold, and of all objects without a namespace', async () => {
    make();
    put(Node, 'node');
    for (const namespace of NAMESPACES) for (const name of ['x', 'y']) put(Lease, name, [], { namespace });
    share();
    await collectors.advance(2_000);
    const kept = THIRDS.map((own, index) => own.length + THIRDS[(index + 1) % 3]!.length);
    expect(collectors.replicas.map(({ figures }) => figures()['objects'])).toEqual(
      kept.map((slots) => slots * 2 + 1),
    );
    collectors.replicas[0]!.hold([0]);
    expect(collectors.replicas[0]!.figures()['objects']).toBeLessThanOrEqual(3);
    await collectors.advance(1_000);
    expect(collectors.replicas[0]!.figures()['objects']).toBe(3);
  });

  it('leave living trees alone, and ask the server nothing', async () => {
    make();
    const node = put(Node, 'node');
    for (const namespace of NAMESPACES) {
      const web = put(Deployment, 'web', [node], { namespace });
      put(Pod, 'pod', [put(ReplicaSet, 'web-1', [web], { namespace })], { namespace });
    }
    share();
    await collectors.advance(3_000);
    expect(collectors.cluster.requests.filter(({ verb }) => verb !== 'list')).toEqual([]);
    expect(names(Pod)).toHaveLength(SLOTS);
  });

  const KINDS = [Namespace, Node, Lease, ServiceAccount, WIDGETS].map((type) => ({ kind: type.kind, type }));
  const POLICIES = ['Foreground', 'Orphan', 'Background'] as const;

  it.each(KINDS.flatMap((each) => POLICIES.map((policy) => ({ ...each, policy }))))(
    'treat the dependents of each kind of owner as one collector would: $kind, $policy',
    async ({ policy, type }) => {
      make();
      const [namespace] = NAMESPACES;
      const places = type.namespaced ? [namespace!] : NAMESPACES;
      const owner = put(type, 'owner', [], type.namespaced ? { namespace } : {});
      for (const place of places) put(Lease, 'dependent', [owner], { namespace: place });
      share();
      await collectors.advance(2_000);
      const order = deletions();
      await collectors.cluster.delete(type, owner.metadata, { propagationPolicy: policy });
      await collectors.advance(20_000);
      const gone = places.map(() => 'dependent');
      expect(order).toEqual(
        { Foreground: [...gone, 'owner'], Orphan: ['owner'], Background: ['owner', ...gone] }[policy],
      );
      expect(ownersOf(Lease)).toBe(0);
    },
  );

  it('delete a tree that goes through objects without a namespace from the leaves, where it is deleted in the foreground', async () => {
    make();
    const root = put(Node, 'root');
    const middle = put(Namespace, 'middle', [root]);
    for (const namespace of NAMESPACES) put(Lease, 'leaf', [middle], { namespace });
    share();
    await collectors.advance(2_000);
    const order = deletions();
    await collectors.cluster.delete(Node, root.metadata, { propagationPolicy: 'Foreground' });
    await collectors.advance(30_000);
    expect(order).toEqual([...NAMESPACES.map(() => 'leaf'), 'middle', 'root']);
  });

  it('let an owner without a namespace wait for a dependent that no cache of its own shows, at the cost of one GET each second', async () => {
    make();
    const owner = put(Node, 'node');
    const elsewhere = THIRDS.find((own) => !own.includes(SLOT_OF_NONE))![0]!;
    const namespace = NAMESPACES[elsewhere]!;
    put(Lease, 'held', [owner], { namespace, finalizers: ['example.com/hold'] });
    collectors.replicas.forEach((replica, index) => replica.hold(THIRDS[index]!));
    await collectors.advance(2_000);
    await collectors.cluster.delete(Node, owner.metadata, { propagationPolicy: 'Foreground' });
    await collectors.advance(10_000);
    expect(names(Node)).toEqual(['/node']);
    const { length } = collectors.cluster.requests;
    await collectors.advance(10_000);
    const asked = collectors.cluster.requests.slice(length);
    expect(new Set(asked.map(({ verb }) => verb))).toEqual(new Set(['get']));
    expect(asked.length).toBeLessThanOrEqual(11);
    await collectors.cluster.patch(
      Lease,
      { namespace, name: 'held' },
      { type: 'merge', body: { metadata: { finalizers: [] } } },
    );
    await collectors.advance(5_000);
    expect(names(Node)).toEqual([]);
  });

  it('conclude nothing about an owner without a namespace while a kind cannot be listed in all namespaces', async () => {
    make();
    const owner = put(Node, 'node');
    for (const namespace of NAMESPACES) put(Lease, 'lease', [owner], { namespace });
    share();
    await collectors.advance(2_000);
    collectors.cluster.intercept = ({ type, verb }) =>
      verb === 'list' && type.kind === 'Lease' ? refusal(503, 'ServiceUnavailable', 'later') : undefined;
    await collectors.cluster.delete(Node, owner.metadata, { propagationPolicy: 'Orphan' });
    await collectors.advance(5_000);
    expect(names(Node)).toEqual(['/node']);
    collectors.cluster.intercept = () => undefined;
    await collectors.advance(60_000);
    expect([names(Node), ownersOf(Lease), names(Lease).length]).toEqual([[], 0, SLOTS]);
  });

  it('do not take a slot that is being listed for one without dependents', async () => {
    make();
    const [namespace] = NAMESPACES;
    const owner = put(Deployment, 'web', [], { namespace });
    put(Lease, 'dependent', [owner], { namespace });
    collectors.replicas[0]!.hold([1]);
    // Long enough that nothing waits for the first lists any more.
    await collectors.advance(40_000);
    const answered = Promise.withResolvers<void>();
    const list = collectors.cluster.list.bind(collectors.cluster);
    collectors.cluster.list = async (type, options) => {
      if (type.kind === 'Lease') await answered.promise;
      return list(type, options) as never;
    };
    await collectors.cluster.delete(Deployment, owner.metadata, { propagationPolicy: 'Orphan' });
    collectors.replicas[0]!.hold([0, 1]);
    // However long the list takes: there is much to list when a slot comes to a large cluster.
    await collectors.advance(35_000);
    expect(names(Deployment)).toHaveLength(1);
    answered.resolve();
    await collectors.advance(5_000);
    expect([names(Deployment), ownersOf(Lease), names(Lease).length]).toEqual([[], 0, 1]);
  });

  it.each([Deployment, Node])(
    'delete nothing because its owner is of a kind that they have not listed yet: $kind',
    async (type) => {
      make();
      const [namespace] = NAMESPACES;
      const owner = put(type, 'owner', [], type.namespaced ? { namespace } : {});
      put(Lease, 'dependent', [owner], { namespace });
      const list = collectors.cluster.list.bind(collectors.cluster);
      const answered = Promise.withResolvers<void>();
      collectors.cluster.list = async (asked, options) => {
        if (asked.kind === type.kind) await answered.promise;
        return list(asked, options);
      };
      collectors.replicas[0]!.hold([0]);
      await collectors.advance(40_000);
      expect(names(Lease)).toHaveLength(1);
      expect(collectors.cluster.count('get', type)).toBeGreaterThan(0);
      answered.resolve();
    },
  );

  it('do not forget dependents without a namespace that are listed while those in all namespaces are looked for', async () => {
    make();
    const [replica] = collectors.replicas;
    const owner = put(Node, 'node');
    put(GADGETS, 'dependent', [owner]);
    replica!.hold(ALL);
    await collectors.advance(2_000);
    const gates = { Gadget: Promise.withResolvers<void>(), Lease: Promise.withResolvers<void>() };
    collectors.cluster.beforeList = async (type, { shard }) => {
      if (type.kind === 'Gadget') await gates.Gadget.promise;
      if (type.kind === 'Lease' && !shard) await gates.Lease.promise;
    };
    collectors.cluster.discovered.push(...served(GADGETS));
    await collectors.advance(31_000);
    await collectors.cluster.delete(Node, owner.metadata, { propagationPolicy: 'Orphan' });
    await collectors.advance(1_000);
    gates.Gadget.resolve();
    await collectors.advance(1_000);
    gates.Lease.resolve();
    await collectors.advance(10_000);
    expect([names(Node), names(GADGETS), ownersOf(GADGETS)]).toEqual([[], ['/dependent'], 0]);
  });

  it('let an owner go whose last blocking dependent was deleted while its shard was listed again', async () => {
    make();
    const [replica] = collectors.replicas;
    const [namespace] = NAMESPACES;
    const owner = put(Deployment, 'web', [], { namespace });
    replica!.informers.informerFor(Deployment);
    put(Lease, 'blocking', [owner], { namespace, finalizers: ['example.com/hold'] });
    replica!.hold([0, 1]);
    await collectors.advance(2_000);
    await collectors.cluster.delete(Deployment, owner.metadata, { propagationPolicy: 'Foreground' });
    await collectors.advance(5_000);
    expect(names(Deployment)).toHaveLength(1);
    const answered = Promise.withResolvers<void>();
    collectors.cluster.beforeList = async (type) => {
      if (type.kind === 'Lease') await answered.promise;
    };
    // The metadata of both slots is watched as one, so that of the other one is listed again.
    replica!.hold([0]);
    const release = { type: 'merge', body: { metadata: { finalizers: [] } } } as const;
    await collectors.cluster.patch(Lease, { namespace, name: 'blocking' }, release);
    await collectors.advance(1_000);
    answered.resolve();
    await collectors.advance(5_000);
    expect([names(Lease), names(Deployment)]).toEqual([[], []]);
  });

  it.each([
    { when: 'is listed again', before: [0, 1], after: [0] },
    { when: 'begins', before: [1], after: [0, 1] },
  ])(
    'do not ask the server for each owner in a slot that $when, because the lists come one after another',
    async ({ after, before }) => {
      make();
      const [replica] = collectors.replicas;
      const [namespace] = NAMESPACES;
      for (let index = 0; index < 50; index++)
        put(Lease, `lease-${index}`, [put(ServiceAccount, `account-${index}`, [], { namespace })], {
          namespace,
        });
      replica!.hold(before);
      await collectors.advance(2_000);
      const answered = Promise.withResolvers<void>();
      collectors.cluster.beforeList = async (type) => {
        if (type.kind === 'ServiceAccount') await answered.promise;
      };
      // First as a standby: the slot begins when a part of it is listed.
      replica!.hold(before, after);
      await collectors.advance(250);
      replica!.hold(after);
      await collectors.advance(500);
      answered.resolve();
      await collectors.advance(5_000);
      expect(collectors.cluster.count('get')).toBe(0);
      expect([names(Lease).length, names(ServiceAccount).length]).toEqual([50, 50]);
    },
  );

  it('go on where another one was when a slot moves in the middle of a deletion in the foreground', async () => {
    make();
    const [namespace] = NAMESPACES;
    const owner = put(Deployment, 'web', [], { namespace });
    for (let index = 0; index < 20; index++) put(Lease, `lease-${index}`, [owner], { namespace });
    const [a, b] = collectors.replicas;
    a!.hold([0]);
    await collectors.advance(2_000);
    const order = deletions();
    let moved = false;
    collectors.cluster.onEvent((_, { type }) => {
      if (type !== 'DELETED' || moved || order.length < 5) return;
      moved = true;
      a!.hold([]);
      b!.hold([0]);
    });
    await collectors.cluster.delete(Deployment, owner.metadata, { propagationPolicy: 'Foreground' });
    await collectors.advance(30_000);
    expect(moved).toBe(true);
    expect([order.length, order.at(-1)]).toEqual([21, 'web']);
    expect(names(Lease)).toEqual([]);
  });

  it.each(POLICIES)('finish what one that dies has left half done: %s', async (policy) => {
    make();
    const node = put(Node, 'node');
    for (const namespace of NAMESPACES)
      for (let index = 0; index < 10; index++) put(Lease, `lease-${index}`, [node], { namespace });
    share();
    await collectors.advance(2_000);
    const victim = holderOf(SLOT_OF_NONE);
    let changes = 0;
    collectors.cluster.onEvent((type) => {
      if (type.kind === 'Lease' && ++changes === 20) victim.die();
    });
    await collectors.cluster.delete(Node, node.metadata, { propagationPolicy: policy });
    await collectors.advance(2_000);
    expect(changes).toBeGreaterThanOrEqual(20);
    const [first, second] = collectors.replicas.filter((replica) => replica !== victim);
    first!.hold(ALL.filter((slot) => slot % 2 === 0));
    second!.hold(ALL.filter((slot) => slot % 2 === 1));
    await collectors.advance(90_000);
    expect(names(Node)).toEqual([]);
    expect(ownersOf(Lease)).toBe(0);
    expect(names(Lease)).toHaveLength(policy === 'Orphan' ? SLOTS * 10 : 0);
  });
});
