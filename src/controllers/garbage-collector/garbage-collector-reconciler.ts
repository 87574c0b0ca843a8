import type {
  ActResult,
  Decided,
  DecidingReconciler,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
} from '@rollkeeper/runtime';
import { isConflict, isNotFound, noteCachesRead, unlessGone } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { applyCollection, orphanDependents, removeFinalizer } from './apply-collection.js';
import type { OwnerClassification, OwnerSources } from './classify-owners.js';
import { classifyOwners } from './classify-owners.js';
import type { CollectionPlan, OwnerDuty } from './decide-collection.js';
import { decideCollection, decideNeed, decideOwnerDuty } from './decide-collection.js';
import type { DependentsElsewhere } from './dependents-elsewhere.js';
import type { Look } from './describe-decision.js';
import { describeCollection, describeDuty, readAttributes } from './describe-decision.js';
import { isBeingDeleted, parseItemRef } from './item-key.js';
import type { CompiledGarbageCollectorOptions } from './garbage-collector.options.js';
import type { CollectableItem } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

type Item = DeepReadonly<KubernetesObject>;

/** Attempts to reread an object that other clients keep writing to, before the queue's backoff takes over. */
const ATTEMPTS = 4;

/** The objects that one attempt looks at. */
interface Sight {
  readonly item: CollectableItem;
  readonly object: Item;
  /** From 1. */
  readonly attempt: number;
}

/** One object as an attempt sees it. */
export interface SeenItem {
  readonly sight: Sight;
  readonly look: Look;
  /** Whether dependents may be missing, because a first list was in progress when they were looked for. */
  readonly isFilling: boolean;
  /** Absent where it is being deleted: its owners do not matter any more. */
  readonly owners?: OwnerClassification;
}

export type PlannedItem = { readonly seen: SeenItem } & (
  { readonly duty: OwnerDuty } | { readonly owners: OwnerClassification; readonly collection: CollectionPlan }
);

type Context = Pick<ReconcileContext<KubernetesObject>, 'client' | 'logger' | 'signal'>;

/**
 * Checks one object: its duty towards dependents while it is being deleted, otherwise whether its owners still keep it.
 * Starts from the cache; a conflict means that the cache was outdated, and then the server's object is checked instead.
 */
export class GarbageCollectorReconciler implements DecidingReconciler<
  KubernetesObject,
  SeenItem,
  PlannedItem
> {
  constructor(
    private readonly sources: OwnerSources & { readonly elsewhere: DependentsElsewhere },
    private readonly options: CompiledGarbageCollectorOptions,
  ) {}

  async observe(request: ReconcileRequest, context: Context): Promise<SeenItem | undefined> {
    const { graph } = this.sources;
    const item = parseItemRef(request, graph.types);
    const cached = item && graph.get(item.type, item.ref);
    return item && cached && this.look({ item, object: cached, attempt: 1 }, context);
  }

  decide(seen: SeenItem): Decided<PlannedItem> {
    const { isFilling, look, owners } = seen;
    const { dependents, object } = look;
    const children = dependents.map(objectOf);
    if (!owners) {
      const duty = decideOwnerDuty(object, { dependents: children, isFilling });
      return { decision: describeDuty(look, duty), plan: { seen, duty } };
    }
    const collection: CollectionPlan = owners.undecidable
      ? { action: 'keep' }
      : decideCollection(object, owners.owners, children);
    return { decision: describeCollection(look, owners, collection), plan: { seen, owners, collection } };
  }

  async act(plan: PlannedItem, context: Context): Promise<ActResult<SeenItem>> {
    const { look, sight } = plan.seen;
    try {
      return await ('duty' in plan
        ? this.fulfil(look, plan.duty, context)
        : this.carryOut(look, plan.owners, plan.collection, context));
    } catch (error) {
      const live = await this.afterFailure(error, sight, context);
      const seen = live && (await this.look(live, context));
      return seen ? { seen } : {};
    }
  }

  /** Undefined: the object was deleted meanwhile. */
  private async look(sight: Sight, context: Context): Promise<SeenItem | undefined> {
    for (let next: Sight | undefined = sight; next;) {
      try {
        return await this.lookOnce(next, context);
      } catch (error) {
        next = await this.afterFailure(error, next, context);
      }
    }
    return undefined;
  }

  private async lookOnce(sight: Sight, { client, signal }: Context): Promise<SeenItem> {
    const { item, object } = sight;
    const { graph, monitors } = this.sources;
    const isFilling = monitors.isFillingFor(object.metadata.namespace);
    const look = { item, object, dependents: graph.dependentsOfOwner({ type: item.type, object }) };
    noteCachesRead(() => readAttributes(look));
    const isDeleted = isBeingDeleted(object);
    const owners = isDeleted ? undefined : await classifyOwners(object, this.sources, client, signal);
    const seen = { sight, look, isFilling, ...(owners && { owners }) };
    // While a list is in progress, an object that is being deleted waits for that in any case.
    if (item.type.namespaced || !monitors.seesPart || (isDeleted && isFilling)) return seen;
    const dependents = await this.withThoseElsewhere(look, owners, { client, signal });
    return { ...seen, look: { ...look, dependents } };
  }

  private async withThoseElsewhere(
    { dependents: cached, item, object }: Look,
    owners: OwnerClassification | undefined,
    { client, signal }: Pick<Context, 'client' | 'signal'>,
  ): Promise<readonly GraphNode[]> {
    const states = owners?.undecidable ? undefined : owners?.owners;
    const need = decideNeed(object, states, cached.map(objectOf));
    const found = await this.sources.elsewhere.of({ type: item.type, object }, need, client, signal);
    const known = new Set(cached.map((node) => node.object.metadata.uid));
    return [...cached, ...found.filter((node) => !known.has(node.object.metadata.uid))];
  }

  /** The state to look at after a conflict, in place of the outdated one. Undefined if the object was deleted. */
  private async afterFailure(
    error: unknown,
    { attempt, item, object }: Sight,
    { client, signal }: Context,
  ): Promise<Sight | undefined> {
    if (isNotFound(error)) return undefined;
    if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    const live = await unlessGone(client.get(item.type, item.ref, { signal, metadataOnly: true }));
    if (!live || live.metadata.uid !== object.metadata.uid) return undefined;
    return { item, object: live, attempt: attempt + 1 };
  }

  private async fulfil(
    { dependents, item, object }: Look,
    duty: OwnerDuty,
    { client, signal }: Context,
  ): Promise<ReconcileResult> {
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
      // The dependents are separate keys, and the last one's deletion wakes this owner.
      case 'wait-for-dependents':
        // The deletion of a dependent that another replica caches wakes nothing here.
        return item.type.namespaced || !this.sources.monitors.seesPart
          ? {}
          : { requeueAfterMs: this.options.elsewhereRecheckMs };
      case 'none':
        return {};
    }
  }

  private async carryOut(
    { item, object }: Look,
    owners: OwnerClassification,
    plan: CollectionPlan,
    { client, logger, signal }: Context,
  ): Promise<ReconcileResult> {
    if (owners.undecidable) {
      logger.warn(
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
