import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubernetesObject, OwnerReference, ResourceType } from '../../machinery/kubernetes/index.js';
import {
  Deployment,
  Lease,
  Namespace,
  Node,
  ServiceAccount,
  keyOf,
} from '../../machinery/kubernetes/index.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { putOwned, refTo } from './owner-tree.fixture.js';
import { NAMESPACES, SLOTS, SlottedCollectors } from './slotted-collectors.fixture.js';

/*
 * Four rules hold for any graph, however slots move and whichever replica dies:
 * 1. A collector deletes an object only if it has owners, and each of them is absent or waits for its dependents, in truth.
 * 2. An owner that is deleted in the foreground goes after all dependents that block it.
 * 3. An owner whose dependents are orphaned goes after the last reference to it.
 * 4. At rest nothing is left that has owners of which none exists, and nothing that is being deleted.
 */

const TYPES = [Node, Namespace, Lease, ServiceAccount, Deployment];
const POLICIES = ['Foreground', 'Orphan', 'Background'] as const;
const REPLICAS = ['a', 'b', 'c'];

interface NewObject {
  readonly do: 'create';
  readonly type: number;
  readonly place: number;
  readonly owners: readonly number[];
  readonly isBlocking: boolean;
}
type Step =
  | NewObject
  | { readonly do: 'delete'; readonly which: number; readonly policy: (typeof POLICIES)[number] }
  | { readonly do: 'share'; readonly holders: readonly (readonly [number, number])[] }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'die'; readonly which: number };

const creation = fc.record({
  do: fc.constant('create' as const),
  type: fc.nat(TYPES.length - 1),
  place: fc.nat(2),
  owners: fc.array(fc.nat(30), { maxLength: 3 }),
  isBlocking: fc.boolean(),
});
const sharing = fc.record({
  do: fc.constant('share' as const),
  holders: fc.array(fc.tuple(fc.nat(2), fc.nat(2)), { minLength: SLOTS, maxLength: SLOTS }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: creation },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('delete' as const),
      which: fc.nat(40),
      policy: fc.constantFrom(...POLICIES),
    }),
  },
  { weight: 2, arbitrary: sharing },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(1500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), which: fc.nat(2) }) },
);

/** A cluster with collectors, in which every deletion is compared with the truth. */
class World {
  readonly collectors = new SlottedCollectors(REPLICAS);
  readonly faults: string[] = [];
  private readonly made: { readonly type: ResourceType; readonly object: KubernetesObject }[] = [];
  private readonly policies = new Map<string, (typeof POLICIES)[number]>();
  private readonly dead = new Set<number>();
  private isOurs = false;

  constructor() {
    const { cluster } = this.collectors;
    cluster.discovered = cluster.discovered.filter(({ kind }) => TYPES.some((type) => type.kind === kind));
    cluster.intercept = ({ deleteOptions, key, type, verb }) => {
      if (verb === 'delete' && !this.isOurs) this.checkDeletion(type, key, deleteOptions?.preconditions?.uid);
      return undefined;
    };
    cluster.onEvent((type, event) => {
      if (event.type === 'DELETED') this.checkEnd(type, event.object);
      const { deletionTimestamp, finalizers = [], uid = '' } = event.object.metadata;
      if (deletionTimestamp === undefined || event.type === 'DELETED') return;
      if (finalizers.includes('orphan')) this.policies.set(uid, 'Orphan');
      if (finalizers.includes('foregroundDeletion')) this.policies.set(uid, 'Foreground');
    });
  }

  async take(action: Step): Promise<void> {
    const { collectors } = this;
    switch (action.do) {
      case 'create':
        this.create(action);
        // A dependent that is made in the moment in which its owner goes is collected later, as in Kubernetes.
        return collectors.advance(500);
      case 'delete':
        return this.delete(action.which, action.policy);
      case 'share':
        return this.share(action.holders);
      case 'wait':
        return collectors.advance(action.ms);
      case 'die':
        if (this.dead.size > 0) return;
        this.dead.add(action.which);
        collectors.replicas[action.which]!.die();
    }
  }

  /** Gives each slot an owner and a standby that live. */
  share(holders: readonly (readonly [number, number])[]): void {
    const living = this.collectors.replicas.filter((_, index) => !this.dead.has(index));
    const of = (index: number) => living[index % living.length];
    for (const replica of living)
      replica.hold(
        holders.flatMap(([owner], slot) => (of(owner) === replica ? [slot] : [])),
        holders.flatMap(([, standby], slot) => (of(standby) === replica ? [slot] : [])),
      );
  }

  leftovers(): readonly string[] {
    return this.all()
      .filter(({ object: { metadata }, type }) => {
        const { deletionTimestamp, namespace, ownerReferences = [] } = metadata;
        // A cluster-scoped object whose owner would have a namespace is left alone, as in Kubernetes.
        const isUndecidable = !type.namespaced && ownerReferences.some((each) => typeOf(each).namespaced);
        const isAbandoned =
          !isUndecidable &&
          ownerReferences.length > 0 &&
          ownerReferences.every((each) => !this.ownerOf(each, namespace));
        return isAbandoned || deletionTimestamp !== undefined;
      })
      .map(({ object, type }) => `${type.kind} ${keyOf(object.metadata)}`);
  }

  private create({ isBlocking, owners, place, type: index }: NewObject): void {
    const type = TYPES[index]!;
    const namespace = type.namespaced ? NAMESPACES[place * 3]! : undefined;
    // Mostly owners that exist; those of another namespace do not, for Kubernetes.
    const chosen = owners.flatMap((each) => this.made[each % Math.max(1, this.made.length)] ?? []);
    const living = chosen.filter(({ object, type: ofOwner }) => {
      const now = this.collectors.cluster.peek<KubernetesObject>(ofOwner, keyOf(object.metadata));
      return now?.metadata.uid === object.metadata.uid && now?.metadata.deletionTimestamp === undefined;
    });
    // One that is left alone must not block another owner.
    const isUndecidable = !type.namespaced && living.some((owner) => owner.type.namespaced);
    const references = [...new Set(living.map(({ object }) => object))].map((owner) => ({
      ...refTo(owner),
      controller: false,
      blockOwnerDeletion: isBlocking && !isUndecidable,
    }));
    const object = putOwned(this.collectors.cluster, type, `o${this.made.length}`, [], {
      ...(namespace !== undefined && { namespace }),
    });
    const stored = { ...object, metadata: { ...object.metadata, ownerReferences: references } };
    void this.collectors.cluster.update(type, stored);
    this.made.push({ type, object });
  }

  private async delete(which: number, policy: (typeof POLICIES)[number]): Promise<void> {
    const chosen = this.made[which % Math.max(1, this.made.length)];
    if (!chosen) return;
    const { cluster } = this.collectors;
    const now = cluster.peek<KubernetesObject>(chosen.type, keyOf(chosen.object.metadata));
    if (!now || now.metadata.deletionTimestamp !== undefined) return;
    this.isOurs = true;
    const deleted = cluster.delete(chosen.type, now.metadata, { propagationPolicy: policy });
    this.isOurs = false;
    await deleted;
  }

  private all(): readonly { readonly type: ResourceType; readonly object: KubernetesObject }[] {
    return TYPES.flatMap((type) => this.collectors.cluster.all(type).map((object) => ({ type, object })));
  }

  private ownerOf(reference: OwnerReference, namespace: string | undefined): KubernetesObject | undefined {
    const type = typeOf(reference);
    const ref = type.namespaced ? { namespace, name: reference.name } : { name: reference.name };
    const owner = this.collectors.cluster.peek<KubernetesObject>(type, keyOf(ref));
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  }

  private checkDeletion(type: ResourceType, key: string, uid: string | undefined): void {
    const object = this.collectors.cluster.peek<KubernetesObject>(type, key);
    if (object?.metadata.uid !== uid) return;
    const { namespace, ownerReferences = [] } = object!.metadata;
    const solid = ownerReferences.filter((each) => {
      const owner = this.ownerOf(each, namespace);
      return owner && !owner.metadata.finalizers?.includes('foregroundDeletion');
    });
    if (ownerReferences.length === 0 || solid.length > 0)
      this.faults.push(`${type.kind} ${key} is deleted, and its owner ${solid[0]?.name ?? '(none)'} exists`);
  }

  private checkEnd(type: ResourceType, { metadata: owner }: KubernetesObject): void {
    const policy = this.policies.get(owner.uid ?? '');
    if (!policy) return;
    for (const { object } of this.all()) {
      const { namespace, ownerReferences = [] } = object.metadata;
      const isDependent = !type.namespaced || namespace === owner.namespace;
      const reference = ownerReferences.find(({ uid }) => uid === owner.uid);
      if (!isDependent || !reference) continue;
      if (policy === 'Orphan' || reference.blockOwnerDeletion)
        this.faults.push(`${type.kind} ${keyOf(owner)} (${policy}) is gone before ${keyOf(object.metadata)}`);
    }
  }
}

function typeOf({ kind }: OwnerReference): ResourceType {
  return TYPES.find((type) => type.kind === kind)!;
}

describe('garbage collectors that share the slots of any graph', () => {
  it('delete nothing whose owner exists, no owner before its dependents, and leave nothing', async () => {
    const graph = fc.array(creation, { minLength: 6, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(
        graph,
        sharing,
        fc.array(step, { maxLength: 14 }),
        sharing,
        async (made, first, steps, last) => {
          const world = new World();
          world.share(first.holders);
          for (const each of made) await world.take(each);
          for (const each of steps) await world.take(each);
          world.share(last.holders);
          await world.collectors.advance(90_000, 3_000);
          expect(world.faults).toEqual([]);
          expect(world.leftovers()).toEqual([]);
          await world.collectors.stop();
        },
      ),
      propertyRuns({ gate: 15, nightly: 400 }),
    );
  });
});
