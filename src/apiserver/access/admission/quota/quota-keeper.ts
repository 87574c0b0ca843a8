import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { addAmounts, qualifiedResource, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Amounts, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import {
  isStorageConflict,
  isStorageNotFound,
  isStorageUnavailable,
  pagesOf,
} from '../../../storage/index.js';
import type { FollowedObjects, Storage } from '../../../storage/index.js';
import type { KindDefinition, KindRegistry } from '../../../kinds/index.js';
import { refused } from '../attributes.js';
import type { Attributes } from '../attributes.js';
import { differenceOf, excessOf, statusAfter, vaguenessOf } from './decide-charge.js';
import type { Change, Difference, ResourceQuota } from './decide-charge.js';
import { resourceCountedBy } from './usage.js';

const NOTHING: Amounts = {};

/** A quota and the change of its usage. */
interface Booking extends Difference {
  readonly quota: Readonly<ResourceQuota>;
}

/**
 * Accounts for ResourceQuotas: an addition is in `status.used` before the object is stored, and a removal after it, so that
 * neither parallel writers nor a crash can exceed the quota. In this process the bookings of a namespace are serialized;
 * between processes the store's comparison of revisions decides. Before a request is refused, the objects are recounted.
 * Namespaces without a quota cost nothing.
 *
 * Unlike in kube-apiserver, removals are booked at once, with no controller's help, and a terminating pod counts until it is
 * deleted.
 */
export class QuotaKeeper {
  private readonly turns = new Map<string, { readonly limit: ConcurrencyLimit; waiting: number }>();

  constructor(
    private readonly quotas: FollowedObjects<ResourceQuota>,
    private readonly dependencies: {
      readonly storage: Storage;
      readonly kinds: KindRegistry;
      readonly logger: Logger;
    },
  ) {}

  /**
   * Lets `write` happen, and books it.
   * @throws StatusError 403 when a quota does not allow it
   */
  async booked<T>(attributes: Attributes, write: () => Promise<T>): Promise<T> {
    const change = changeOf(attributes);
    if (!this.concerns(attributes.namespace, change)) return write();
    return this.inTurn(attributes.namespace, async () => {
      const done = await this.bookAll(attributes, change);
      let result: T;
      try {
        result = await write();
      } catch (error) {
        // The outcome is unknown: counting too much is corrected before it does harm, too little is not.
        if (!isStorageUnavailable(error))
          for (const { more, quota } of done) await this.giveBack(quota, more);
        throw error;
      }
      for (const { less, quota } of done) await this.giveBack(quota, less);
      return result;
    });
  }

  /** The result of {@link booked}. @throws StatusError 403 */
  async check(attributes: Attributes): Promise<void> {
    const change = changeOf(attributes);
    if (!this.concerns(attributes.namespace, change)) return;
    await this.inTurn(attributes.namespace, async () => {
      for (const quota of this.inOrder(attributes.namespace)) await this.decide(attributes, change, quota);
    });
  }

  /** A quota was created or changed: update its status. */
  async counted(quota: Readonly<ResourceQuota>): Promise<void> {
    if (isCounted(quota)) return;
    const { name, namespace = '' } = quota.metadata;
    await this.inTurn(namespace, async () => {
      const newest = this.quotas.get(namespace, name);
      if (newest && !isCounted(newest)) await this.recount(newest);
    });
  }

  /** Whether any quota could count the difference; cheap if there is none. */
  private concerns(namespace: string, change: Change): boolean {
    return this.quotas.list(namespace).some((quota) => {
      const { less, more } = differenceOf(quota, change);
      return (
        Object.keys(more).length + Object.keys(less).length > 0 ||
        (!change.oldObject && !!vaguenessOf(quota, change))
      );
    });
  }

  private async bookAll(attributes: Attributes, change: Change): Promise<Booking[]> {
    const done: Booking[] = [];
    try {
      for (const quota of this.inOrder(attributes.namespace)) {
        const booking = await this.book(attributes, change, quota);
        if (booking) done.push(booking);
      }
    } catch (error) {
      for (const { more, quota } of done) await this.giveBack(quota, more);
      throw error;
    }
    return done;
  }

  private async book(
    attributes: Attributes,
    change: Change,
    quota: Readonly<ResourceQuota>,
  ): Promise<Booking | undefined> {
    for (let current: Readonly<ResourceQuota> | undefined = quota; current;) {
      const booking = await this.decide(attributes, change, current);
      const isSame = Object.keys(booking.more).length === 0;
      const written = isSame ? booking.quota : await this.tryWrite(booking.quota, { more: booking.more });
      if (written) return { ...booking, quota: written };
      current = await this.reread(current);
    }
    return undefined;
  }

  /** @throws StatusError 403 if a recount shows that there is not enough left */
  private async decide(
    attributes: Attributes,
    change: Change,
    quota: Readonly<ResourceQuota>,
  ): Promise<Booking> {
    const vagueness = change.oldObject ? undefined : vaguenessOf(quota, change);
    if (vagueness !== undefined) throw refused(attributes, vagueness);
    const known = isCounted(quota) ? quota : await this.recount(quota);
    const difference = differenceOf(known, change);
    if (excessOf(known, difference.more) === undefined) return { quota: known, ...difference };
    const counted = await this.recount(known);
    const excess = excessOf(counted, difference.more);
    if (excess !== undefined) throw refused(attributes, excess);
    return { quota: counted, ...difference };
  }

  /** Retries until it succeeds, or until the quota no longer exists. The next recount finds what cannot be returned now. */
  private async giveBack(quota: Readonly<ResourceQuota>, less: Amounts): Promise<void> {
    if (Object.keys(less).length === 0) return;
    const { name, namespace = '' } = quota.metadata;
    try {
      let current = this.quotas.get(namespace, name);
      while (current && !(await this.tryWrite(current, { less }))) current = await this.reread(current);
    } catch (error) {
      const { logger } = this.dependencies;
      logger.warn('a quota shows too much use', { namespace, quota: name, error: errorMessage(error) });
    }
  }

  /** Recounts the quota's usage, and stores the result if it was wrong. */
  private async recount(quota: Readonly<ResourceQuota>): Promise<Readonly<ResourceQuota>> {
    for (let current: Readonly<ResourceQuota> | undefined = quota; current;) {
      const used = await this.count(current);
      if (isCounted(current) && sameJson(current.status?.used, used)) return current;
      const counted = { ...current, status: { used } } as ResourceQuota;
      const written = await this.tryWrite(counted, {});
      if (written) return written;
      current = await this.reread(current);
    }
    // Usage of a deleted quota is not counted.
    return { ...quota, spec: {} };
  }

  private async count(quota: Readonly<ResourceQuota>): Promise<Amounts> {
    const { hard = {} } = quota.spec ?? {};
    const resources = new Set(Object.keys(hard).flatMap((name) => resourceCountedBy(name) ?? []));
    let used: Amounts = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
    for (const resource of resources) {
      const kind = this.dependencies.kinds.kinds.find(
        ({ type, view }) => !view && qualifiedResource(type) === resource,
      );
      if (kind) used = addAmounts(used, await this.countKind(quota, kind, resource));
    }
    return used;
  }

  private async countKind(
    quota: Readonly<ResourceQuota>,
    { type }: KindDefinition,
    resource: string,
  ): Promise<Amounts> {
    const { namespace } = quota.metadata;
    let used = NOTHING;
    for await (const { items } of pagesOf(this.dependencies.storage, resource, { namespace }))
      for (const { object } of items) used = addAmounts(used, this.usedBy(quota, type, object));
    return used;
  }

  /** Unreadable objects use nothing countable, and must not prevent counting the others. */
  private usedBy(
    quota: Readonly<ResourceQuota>,
    type: KindDefinition['type'],
    object: Readonly<UnstructuredObject>,
  ): Amounts {
    try {
      return differenceOf(quota, { type, object }).more;
    } catch (error) {
      const { name, namespace } = object.metadata;
      const facts = { resource: qualifiedResource(type), namespace, name, quota: quota.metadata.name };
      this.dependencies.logger.warn('an object cannot be counted', { ...facts, error: errorMessage(error) });
      return NOTHING;
    }
  }

  /** @returns undefined if the quota was changed concurrently */
  private async tryWrite(
    quota: Readonly<ResourceQuota>,
    change: Partial<Difference>,
  ): Promise<Readonly<ResourceQuota> | undefined> {
    const { name, namespace = '', resourceVersion } = quota.metadata;
    const key = { resource: this.quotas.resource, namespace, name };
    const changed: ResourceQuota = {
      ...quota,
      metadata: { ...quota.metadata },
      status: statusAfter(quota, change),
    };
    try {
      const { object } = await this.dependencies.storage.update(key, changed, Number(resourceVersion));
      return object;
    } catch (error) {
      if (isStorageConflict(error) || isStorageNotFound(error)) return undefined;
      throw error;
    }
  }

  private reread({ metadata }: Readonly<ResourceQuota>): Promise<Readonly<ResourceQuota> | undefined> {
    return this.quotas.lookUp(metadata.namespace ?? '', metadata.name);
  }

  private inOrder(namespace: string): readonly Readonly<ResourceQuota>[] {
    return [...this.quotas.list(namespace)].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  private async inTurn<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const turn = this.turns.get(namespace) ?? { limit: new ConcurrencyLimit(1), waiting: 0 };
    this.turns.set(namespace, turn);
    turn.waiting += 1;
    try {
      return await turn.limit.run(work);
    } finally {
      turn.waiting -= 1;
      if (turn.waiting === 0) this.turns.delete(namespace);
    }
  }
}

function changeOf({ kind, object, oldObject }: Attributes): Change {
  return { type: kind.type, object, oldObject };
}

function isCounted({ spec, status }: Readonly<ResourceQuota>): boolean {
  return sameJson(spec?.hard ?? {}, status?.hard ?? {});
}
