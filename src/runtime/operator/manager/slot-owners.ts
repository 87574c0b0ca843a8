import type { ManagedController } from '../../manager/index.js';
import type { HeldSlots, SlotKeeper, SlotListener } from '../../slots/index.js';
import { NO_REPLICA } from '../../slots/index.js';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import { replicaOf } from './election.js';

/** The replicas that work on namespaces, as one of them last saw it. A replica that has just lost a slot may name itself no longer, and the next owner not yet. */
export interface SlotOwners {
  /** The slot of a namespace. */
  slotOf(namespace: string | undefined): number;
  /** Whether this replica works on the keys of a namespace. */
  owns(namespace: string | undefined): boolean;
  /** The identity of the replica that works on the keys of a namespace. Undefined: none is known. */
  ownerOf(namespace: string): string | undefined;
  /** How many slots each replica owns, by its identity. */
  owned(): ReadonlyMap<string, number>;
  /** How many slots no replica owns. */
  unowned(): number;
  /** Whether slots spread the keys of a controller: then its queue is in the memory of the owners. */
  spreads(controller: string): boolean;
  /**
   * The namespace whose slot a key of a controller is in: see `ControllerDefinition.namespaceOf`. Undefined: the key is in no namespace, or slots
   * do not spread the keys of the controller.
   */
  namespaceOf(controller: string, key: string): string | undefined;
  /** Tells `listener` of the slots that begin and end here. Returns a function that ends that. */
  listen(listener: SlotListener): () => void;
}

interface OwnedSlots {
  readonly held: Pick<HeldSlots, 'listen' | 'owns' | 'slotOf'>;
  readonly keeper: Pick<SlotKeeper, 'slots'>;
}

/** @param controllers all of them, of which some are in slots */
export function slotOwnersOf(
  { held, keeper }: OwnedSlots,
  controllers: readonly (Pick<ManagedController, 'namespaceOf' | 'worksOn'> & {
    readonly controller: Pick<ManagedController['controller'], 'name'>;
  })[],
): SlotOwners {
  const spread = new Map(
    controllers.flatMap(({ controller, namespaceOf = ({ namespace }) => namespace, worksOn }) =>
      worksOn === 'slots' ? [[controller.name, namespaceOf] as const] : [],
    ),
  );
  const owners = (): string[] => keeper.slots.map(({ owner }) => replicaOf(owner));
  return {
    slotOf: (namespace) => held.slotOf(namespace),
    owns: (namespace) => held.owns(namespace),
    ownerOf: (namespace) => {
      const owner = replicaOf(keeper.slots[held.slotOf(namespace)]?.owner ?? NO_REPLICA);
      return owner === NO_REPLICA ? undefined : owner;
    },
    owned: () => {
      const counts = new Map<string, number>();
      for (const owner of owners()) if (owner !== NO_REPLICA) counts.set(owner, (counts.get(owner) ?? 0) + 1);
      return counts;
    },
    unowned: () => owners().filter((owner) => owner === NO_REPLICA).length,
    spreads: (controller) => spread.has(controller),
    namespaceOf: (controller, key) => spread.get(controller)?.(parseKey(key)),
    listen: (listener) => held.listen(listener),
  };
}
