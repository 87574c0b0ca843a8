import type { ObjectRef, ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import type {
  ActivationAdds,
  Activations,
  ControllerQueue,
  TakeOptions,
  TakenKey,
} from '../activation/activations.js';
import type { LeaderTerm } from '../work-queue/work-queue.js';
import type { HeldSlots } from './held-slots.js';

/** The parts of {@link SlottedActivations}. */
export interface SlottedActivationsParts {
  /** The keys of this replica, which wait in its memory. */
  readonly local: Activations;
  readonly held: HeldSlots;
  /** See `ControllerDefinition.namespaceOf`. @default that of the key */
  readonly namespaceOf?: ((key: ObjectRef) => string | undefined) | undefined;
  /** Whether the caches here show a version of a resource, as far as it matters in a namespace. */
  readonly isShown: (resource: string, version: string, namespace: string | undefined) => boolean;
}

/**
 * The activations of the slots of one replica: a key whose slot the replica does not own is dropped when its turn comes, because the
 * owner has added it. The queue is in this process, which alone adds to it; locks, intents and written versions are where all replicas see them.
 */
export class SlottedActivations implements Activations {
  constructor(private readonly parts: SlottedActivationsParts) {}

  get name(): string {
    return this.parts.local.name;
  }

  get queue(): ControllerQueue {
    return this.parts.local.queue;
  }

  get isConsuming(): boolean {
    return this.parts.local.isConsuming;
  }

  /** Causes that the caches here show already are not recorded: the key runs here, or it is added again by who takes over the slot. */
  async beginTerm(term: LeaderTerm): Promise<ActivationAdds> {
    const adds = await this.parts.local.beginTerm(term);
    return {
      check: () => adds.check(),
      add: (key, options) => adds.add(key, options),
      addWithCauses: (key, causes, options) => {
        const versions = this.unseen(key, causes.versions);
        if (Object.keys(versions).length === 0) return adds.add(key, options);
        return adds.addWithCauses(key, { ...causes, versions }, options);
      },
    };
  }

  run(handle: (taken: TakenKey) => Promise<void>, options: TakeOptions, signal: AbortSignal): Promise<void> {
    return this.parts.local.run((taken) => this.runOne(handle, taken), options, signal);
  }

  private async runOne(handle: (taken: TakenKey) => Promise<void>, taken: TakenKey): Promise<void> {
    const { held, local } = this.parts;
    const { key } = taken.item;
    const namespace = this.namespaceOf(key);
    try {
      await held.run(namespace, () => handle(taken));
    } finally {
      // Its retries, its delays and its parked state end with the slot: the owner has its own.
      if (!held.owns(namespace)) await local.queue.purge(key);
    }
  }

  private namespaceOf(key: string): string | undefined {
    const ref = parseKey(key);
    const { namespaceOf = ({ namespace }) => namespace } = this.parts;
    return namespaceOf(ref);
  }

  private unseen(key: string, versions: ResourceVersions): ResourceVersions {
    const namespace = this.namespaceOf(key);
    const { isShown } = this.parts;
    return Object.fromEntries(
      Object.entries(versions).filter(([resource, version]) => !isShown(resource, version, namespace)),
    );
  }
}
