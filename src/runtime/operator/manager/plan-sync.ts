import type { ApiClient, ApiWrite } from '@rollkeeper/client/api-client';
import { delegatingClient } from '@rollkeeper/client/api-client';
import type { EventNote, EventRecorder } from '@rollkeeper/client/events';
import type { Informer, PartialType, WholeType } from '@rollkeeper/client/informer';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, parseKey } from '@rollkeeper/machinery/kubernetes';
import type {
  ControllerDefinition,
  ControllerDependencies,
  Decision,
  InformerSource,
  IntentStore,
} from '../../controller/index.js';
import { buildController } from '../../controller/index.js';

/** A write that a sync would make. */
export interface PlannedWrite extends ApiWrite {
  /** The object, or the patch; absent where it deletes. */
  readonly body?: unknown;
}

/** The writes that a sync of a key would make now. */
export interface SyncPlan {
  readonly decisions: readonly Decision[];
  readonly writes: readonly PlannedWrite[];
  readonly events: readonly EventNote[];
  /** When it would come back by itself. */
  readonly requeueAfterMs?: number;
}

interface PlanInput {
  readonly definition: ControllerDefinition;
  readonly key: string;
  readonly dependencies: Omit<ControllerDependencies, 'events'>;
  /** Asked where the sync reads past its caches; nothing is written by it. */
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/**
 * Plays a sync on a twin of the controller: on the same caches, with a client that notes writes and sends none, events that
 * are noted, and no lock. The twin remembers nothing, so what was stored of intents, and what the controller itself remembers, is left out of
 * account. A write is answered as if it had been stored as it is, and what is read after it does not show it.
 * @throws IllegalStateError for a controller whose syncs go by what it keeps where it leads
 */
export async function planSync({
  client,
  definition,
  dependencies,
  key,
  signal,
}: PlanInput): Promise<SyncPlan> {
  const events: EventNote[] = [];
  const decisions: Decision[] = [];
  const writes: PlannedWrite[] = [];
  const recorder: EventRecorder = { record: (_about, note) => void events.push(note) };
  const informers = new FilledInformers(dependencies.informers);
  const twin = buildController(definition, { ...dependencies, informers, events: recorder });
  if (twin.leading)
    throw new IllegalStateError(
      `${definition.name} goes by what it keeps where it leads, and cannot be planned`,
    );
  const access = { signal, client: planningClient(client, writes), intents: noIntents() };
  const { requeueAfterMs } = await twin.sync({ key, ...parseKey(key) }, access, (decide) => {
    const decided = decide();
    decisions.push(decided.decision);
    return decided;
  });
  return { decisions, writes, events, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

/** The informers that run already, with the indexes that the controller itself has given them. */
class FilledInformers implements InformerSource {
  private readonly filled = new Map<Informer, Informer>();
  readonly metadataInformerFor: InformerSource['metadataInformerFor'];

  constructor(private readonly source: InformerSource) {
    this.metadataInformerFor = source.metadataInformerFor.bind(source);
  }

  informerFor<T extends KubernetesObject>(type: WholeType, options?: { readonly optional?: boolean }) {
    return this.asFilled(this.source.informerFor<T>(type, options));
  }

  partialInformerFor<T extends KubernetesObject>(
    type: PartialType,
    options?: { readonly optional?: boolean },
  ) {
    return this.asFilled(this.source.partialInformerFor<T>(type, options));
  }

  private asFilled<T extends KubernetesObject>(informer: Informer<T>): Informer<T> {
    const filled = (this.filled.get(informer) ??
      Object.create(informer, { addIndex: { value: () => undefined } })) as Informer<T>;
    this.filled.set(informer, filled);
    return filled;
  }
}

type ParametersAfterType<F> = F extends (type: never, ...rest: infer Rest) => unknown ? Rest : never;

function planningClient(client: ApiClient, writes: PlannedWrite[]): ApiClient {
  const subresourceOf = (options: { readonly subresource?: string } | undefined) =>
    options?.subresource === undefined ? {} : { subresource: options.subresource };
  const stored = async <T extends KubernetesObject>(write: PlannedWrite, object: T): Promise<T> => {
    writes.push(write);
    return cloneJson(object);
  };
  return {
    ...delegatingClient(client),
    create: (type, object, options) =>
      stored({ verb: 'create', type, ref: object.metadata, body: object, ...subresourceOf(options) }, object),
    update: (type, object, options) =>
      stored({ verb: 'update', type, ref: object.metadata, body: object, ...subresourceOf(options) }, object),
    patch: async <T extends KubernetesObject>(
      type: ResourceType,
      ...[ref, patch, options]: ParametersAfterType<ApiClient['patch']>
    ): Promise<T> => {
      const write = { verb: 'patch', type, ref, body: patch.body, ...subresourceOf(options) } as const;
      return stored<T>(write, await client.get<T>(type, ref));
    },
    delete: async (type, ref) => {
      writes.push({ verb: 'delete', type, ref });
      return {};
    },
    deleteCollection: async (type, { namespace } = {}) => {
      writes.push({ verb: 'deletecollection', type, ref: { namespace, name: '' } });
    },
  };
}

function noIntents(): IntentStore {
  return {
    current: undefined,
    store: () => Promise.resolve(),
    clear: () => undefined,
    settledAt: () => undefined,
  };
}
