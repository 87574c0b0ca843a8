import type {
  Decided,
  Observed,
  ReconcileRequest,
  SyncContext,
  SyncReconciler,
  SyncStep,
} from '@rollkeeper/runtime';
import { isConflict, isNotFound, noteCachesRead, unlessGone } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { applyCollection, orphanDependents, removeFinalizer } from './apply-collection.js';
import type { OwnerClassification, OwnerSources } from './classify-owners.js';
import { classifyOwners } from './classify-owners.js';
import type { CollectionPlan, OwnerDuty } from './decide-collection.js';
import { decideCollection, decideOwnerDuty } from './decide-collection.js';
import type { Look } from './describe-decision.js';
import { describeCollection, describeDuty, readAttributes } from './describe-decision.js';
import { isBeingDeleted, parseItemRef } from './item-key.js';
import type { CompiledGarbageCollectorOptions } from './garbage-collector.options.js';
import type { CollectableItem } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

type Item = DeepReadonly<KubernetesObject>;

/** How often an object that somebody else keeps writing to is read again before the queue's backoff takes over. */
const ATTEMPTS = 4;

/** What one attempt looks at. */
interface Sight {
  readonly item: CollectableItem;
  readonly object: Item;
  /** From 1. */
  readonly attempt: number;
}

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

  async reconcile(request: ReconcileRequest, context: SyncContext): Promise<SyncStep> {
    const { graph } = this.sources;
    const item = parseItemRef(request, graph.types);
    const cached = item && graph.get(item.type, item.ref);
    if (!item || !cached) return {};
    return this.collect({ item, object: cached, attempt: 1 }, context);
  }

  private collect(sight: Sight, context: SyncContext): Promise<SyncStep> {
    return this.orAgain(sight, context, async () => {
      const observed = await this.observe(sight, context);
      return {
        decide: () => {
          const { apply, decision } = observed.decide();
          return { decision, apply: () => this.orAgain(sight, context, apply) };
        },
      };
    });
  }

  /** Does `work`; a conflict says that what we saw was old, and then everything begins again with what the server has. */
  private async orAgain(
    { attempt, item, object }: Sight,
    context: SyncContext,
    work: () => Promise<SyncStep>,
  ): Promise<SyncStep> {
    try {
      return await work();
    } catch (error) {
      if (isNotFound(error)) return {};
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
    const { client, signal } = context;
    const live = await unlessGone(client.get(item.type, item.ref, { signal, metadataOnly: true }));
    if (!live || live.metadata.uid !== object.metadata.uid) return {};
    return this.collect({ item, object: live, attempt: attempt + 1 }, context);
  }

  private async observe({ item, object }: Sight, context: SyncContext): Promise<Observed> {
    const dependents = this.sources.graph.dependentsOfOwner({ type: item.type, object });
    const look = { item, object, dependents };
    noteCachesRead(() => readAttributes(look));
    if (isBeingDeleted(object)) return { decide: () => this.decideDuty(look, context) };
    const owners = await classifyOwners(object, this.sources, context.client, context.signal);
    return { decide: () => this.decideByOwners(look, owners, context) };
  }

  private decideDuty(look: Look, context: SyncContext): Decided {
    const { dependents, object } = look;
    const { isFilling } = this.sources.monitors;
    const duty = decideOwnerDuty(object, { dependents: dependents.map(objectOf), isFilling });
    return { decision: describeDuty(look, duty), apply: () => this.fulfil(look, duty, context) };
  }

  private async fulfil(
    { dependents, item, object }: Look,
    duty: OwnerDuty,
    { client, signal }: SyncContext,
  ): Promise<SyncStep> {
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

  private decideByOwners(look: Look, owners: OwnerClassification, context: SyncContext): Decided {
    const { dependents, object } = look;
    const plan: CollectionPlan = owners.undecidable
      ? { action: 'keep' }
      : decideCollection(object, owners.owners, dependents.map(objectOf));
    return {
      decision: describeCollection(look, owners, plan),
      apply: () => this.carryOut(look, owners, plan, context),
    };
  }

  private async carryOut(
    { item, object }: Look,
    owners: OwnerClassification,
    plan: CollectionPlan,
    { client, signal }: SyncContext,
  ): Promise<SyncStep> {
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
