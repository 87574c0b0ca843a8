import type {
  ApiClient,
  ReconcileRequest,
  ReconcileResult,
  SyncContext,
  SyncReconciler,
} from '../../kit/index.js';
import { isConflict, isNotFound, noSyncObserver } from '../../kit/index.js';
import type { DeepReadonly, KubernetesObject } from '../../base/kubernetes/index.js';
import { keyOf } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import { applyCollection, orphanDependents, removeFinalizer } from './apply-collection.js';
import type { OwnerSources } from './classify-owners.js';
import { classifyOwners } from './classify-owners.js';
import type { CollectionPlan } from './decide-collection.js';
import { decideCollection, decideOwnerDuty } from './decide-collection.js';
import type { Look } from './describe-decision.js';
import { describeCollection, describeDuty, readAttributes } from './describe-decision.js';
import { isBeingDeleted } from './finalizers.js';
import type { CompiledGarbageCollectorOptions } from './garbage-collector.options.js';
import type { CollectableItem } from './item-key.js';
import { parseItemRef } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

type Item = DeepReadonly<KubernetesObject>;

/** How often an object that somebody else keeps writing to is read again before the queue's backoff takes over. */
const ATTEMPTS = 4;

/**
 * Looks at one object: what it owes its dependents while it is being deleted, and else whether its owners still keep it.
 * Starts from the cache; a conflict tells that the cache was old, and then the server's object is looked at instead.
 */
export class GarbageCollectorReconciler implements SyncReconciler {
  constructor(
    private readonly sources: OwnerSources,
    private readonly options: CompiledGarbageCollectorOptions,
    private readonly logger: Logger,
  ) {}

  async reconcile(request: ReconcileRequest, context: SyncContext): Promise<ReconcileResult> {
    const { graph } = this.sources;
    const item = parseItemRef(request, graph.types);
    const cached = item && graph.get(item.type, item.ref);
    if (!item || !cached) return {};
    let object: Item = cached;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.collect(item, object, context);
      } catch (error) {
        if (isNotFound(error)) return {};
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      }
      const live = await readLive(item, context.client, context.signal);
      if (!live || live.metadata.uid !== cached.metadata.uid) return {};
      object = live;
    }
  }

  private collect(item: CollectableItem, object: Item, context: SyncContext): Promise<ReconcileResult> {
    const { observer = noSyncObserver } = context;
    const look = { item, object, dependents: this.sources.graph.dependentsOf(object.metadata.uid) };
    observer.found(() => readAttributes(look));
    return isBeingDeleted(object) ? this.fulfilDuty(look, context) : this.collectByOwners(look, context);
  }

  private async fulfilDuty(
    look: Look,
    { client, observer = noSyncObserver, signal }: SyncContext,
  ): Promise<ReconcileResult> {
    const { dependents, item, object } = look;
    const { isFilling } = this.sources.monitors;
    const duty = observer.decide(
      () => decideOwnerDuty(object, { dependents: dependents.map(objectOf), isFilling }),
      (decided) => describeDuty(look, decided),
    );
    switch (duty.action) {
      case 'orphan-dependents':
        await orphanDependents(object, dependents, client, signal);
        await removeFinalizer(item.type, object, 'orphan', client, signal);
        return {};
      case 'remove-finalizer':
        await removeFinalizer(item.type, object, duty.finalizer, client, signal);
        return {};
      case 'wait-for-caches':
        return { requeueAfterMs: this.options.fillingRecheckMs };
      // The dependents are keys of their own, and the last one's deletion brings this owner back.
      case 'wait-for-dependents':
      case 'none':
        return {};
    }
  }

  private async collectByOwners(
    look: Look,
    { client, observer = noSyncObserver, signal }: SyncContext,
  ): Promise<ReconcileResult> {
    const { dependents, item, object } = look;
    const owners = await classifyOwners(object, this.sources, client, signal);
    const plan = observer.decide<CollectionPlan>(
      () =>
        owners.undecidable
          ? { action: 'keep' }
          : decideCollection(object, owners.owners, dependents.map(objectOf)),
      (decided) => describeCollection(look, owners, decided),
    );
    if (owners.undecidable) {
      this.logger.warn(
        'left alone: an owner is of a kind that is unknown or cannot be read, or of another scope',
        {
          key: keyOf(item.ref),
          owners: object.metadata.ownerReferences?.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`),
        },
      );
    }
    if (plan.action !== 'keep') await applyCollection(item.type, object, plan, client, signal);
    if (plan.action === 'delete') return {};
    return owners.unmonitored ? { requeueAfterMs: this.options.unmonitoredRecheckMs } : {};
  }
}

function objectOf({ object }: GraphNode): Item {
  return object;
}

async function readLive(
  item: CollectableItem,
  client: ApiClient,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(item.type, item.ref, { signal, metadataOnly: true });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
