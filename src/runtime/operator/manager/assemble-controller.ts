import type { Tracer } from '@opentelemetry/api';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { withSpans, withTraceAnnotations } from '@rollkeeper/client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { InformerFactory } from '@rollkeeper/client/informer';
import type { LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type {
  BuiltController,
  ControllerDefinition,
  ControllerMetrics,
  InformerByResource,
  ObstructedKeys,
  SyncObserver,
} from '../../controller/index.js';
import { Controller, UnqueuedSweep, activationClient, buildController } from '../../controller/index.js';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { Activations, ControllerQueue } from '../../activation/index.js';
import type { ManagedController } from '../../manager/index.js';
import { NotedInformers, dueInSlots } from '../../manager/index.js';
import type { HeldSlots } from '../../slots/index.js';
import { SlottedActivations } from '../../slots/index.js';
import type { Coordination } from '../coordination/coordination.js';
import { eventsInSlots } from './assemble-slots.js';

/** The parts that the controllers of a replica share. */
export interface SharedParts {
  /** This replica's name, for spans. */
  readonly identity: string;
  /** The API as a controller sees it. */
  readonly clientOf: (definition: ControllerDefinition) => ApiClient;
  readonly informers: InformerFactory;
  /** The slots, and the informers of their namespaces, for controllers that work per namespace. @default there are no slots */
  readonly slots?: { readonly held: HeldSlots; readonly informers: InformerFactory } | undefined;
  readonly activationsOf: Coordination['activationsOf'];
  /** See `ControllerDependencies.rootCa`. */
  readonly rootCa?: string;
  /** Selects objects by their labels. @default all */
  readonly selects?: LabelMatcher;
  /** The event recorder for a component. */
  readonly eventsOf: (component: string) => EventRecorder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics: ControllerMetrics;
  /** How long a sync waits for its caches, milliseconds. */
  readonly caughtUpTimeoutMs: number;
  /** Watch the controllers at work. @default none */
  readonly observers?: readonly SyncObserver[];
  /** The replicas that process keys. @default 'all' */
  readonly reconcileOn?: 'all' | 'leader';
  /** Receives the keys that the API server refuses. @default they are not reported */
  readonly obstructedKeysOf?: (queue: ControllerQueue) => ObstructedKeys;
  /**
   * Called before each write of a controller that only runs on the leader. After a pause of the process, its work may
   * not have noticed yet that the lease has ended.
   * @default not checked
   * @throws LeaseLostError unless this replica leads now
   */
  readonly assertLeads?: () => void;
}

/** Assembles one controller: its activations and their client, its workers, the sweep. Starts nothing. */
export function assembleController(definition: ControllerDefinition, parts: SharedParts): ManagedController {
  const { clock, identity, logger, metrics, observers, random, selects, tracer } = parts;
  const { defaultWorkers, name, namespaceOf, syncTimeoutMs, type } = definition;
  const slots = slotsOf(definition, parts);
  const { informers } = slots ?? parts;
  const worksOn = slots ? 'slots' : definition.queue === 'local' ? 'leader' : (definition.worksOn ?? 'all');
  const isLeadersAlone = worksOn === 'leader' || parts.reconcileOn === 'leader';
  const assertMayWork = isLeadersAlone ? parts.assertLeads : undefined;
  const client = parts.clientOf(definition);
  const traced = withSpans(withTraceAnnotations(client, clock), tracer, clock);
  const noted = new NotedInformers(informers);
  // As in Kubernetes: `deployment-controller`, `replicaset-controller`.
  const recorder = parts.eventsOf(definition.eventSource ?? `${name}-controller`);
  const events = slots ? eventsInSlots(recorder, slots.held) : recorder;
  const built = buildController(definition, {
    discovery: client,
    informers: noted,
    events,
    clock,
    random,
    logger: logger.child({ controller: name }),
    rootCa: parts.rootCa,
    selects,
  });
  const cacheOf = (resource: string) => noted.find(resource) ?? informers.find(resource);
  const informerOf = (resource: string) =>
    built.informerOf ? built.informerOf(resource) : cacheOf(resource);
  const activations = activationsOf(definition, parts, informerOf, built.informerOf !== undefined);
  const { hasObject, objectOf } = objectLookup(built, () => cacheOf(qualifiedResource(type)));
  const controller = new Controller({
    name,
    sync: built.sync,
    observers,
    activations,
    clientFor: (activation) => activationClient(traced, activation, clock, assertMayWork),
    informerOf,
    events,
    ...{ objectOf, namespaceOf },
    obstructed: parts.obstructedKeysOf?.(activations.queue),
    clock,
    logger,
    tracer,
    metrics,
    workers: defaultWorkers,
    caughtUpTimeoutMs: parts.caughtUpTimeoutMs,
    writtenKinds: { owned: built.owns ?? [], ...(!built.objectOf && { own: type }) },
    syncTimeoutMs,
    replica: identity,
  });
  const due = dueOf(built, definition, slots?.held);
  const { queue } = activations;
  const sweep = due && new UnqueuedSweep({ controller: name, queue, due, clock, logger, metrics });
  return {
    ...{ built, controller, hasObject, activations, queue, worksOn },
    needs: noted.needs,
    ...(namespaceOf ? { namespaceOf } : {}),
    ...(sweep ? { sweep } : {}),
  };
}

function slotsOf(
  { perNamespace = false }: ControllerDefinition,
  { slots }: Pick<SharedParts, 'slots'>,
): SharedParts['slots'] {
  return perNamespace ? slots : undefined;
}

function activationsOf(
  definition: ControllerDefinition,
  parts: SharedParts,
  informerOf: InformerByResource,
  hasOwnCaches: boolean,
): Activations {
  const { name, queue = 'shared', queueing: tuning } = definition;
  const slots = slotsOf(definition, parts);
  if (!slots) return parts.activationsOf(name, { tuning, waitsIn: queue });
  return new SlottedActivations({
    local: parts.activationsOf(name, { tuning, waitsIn: 'local' }),
    held: slots.held,
    namespaceOf: definition.namespaceOf,
    // Keys of a controller with caches of its own come from these alone, and they show what they tell, regardless of the shard.
    isShown: hasOwnCaches
      ? () => true
      : (resource, version, namespace) => informerOf(resource)?.hasSeen(version, { namespace }) === true,
  });
}

function dueOf(
  built: BuiltController,
  { namespaceOf }: ControllerDefinition,
  held: HeldSlots | undefined,
): BuiltController['due'] {
  const due = built.due?.bind(built);
  return due && held ? () => dueInSlots(due(), held, namespaceOf) : due;
}

/** The objects of keys: those of the controller itself, if it has its own, otherwise those of its cache. */
function objectLookup(
  built: BuiltController,
  cache: () => ReturnType<InformerFactory['find']>,
): Required<Pick<BuiltController, 'objectOf'>> & Pick<ManagedController, 'hasObject'> {
  const objectOf = built.objectOf?.bind(built) ?? ((key: string) => cache()?.lister.get(key));
  return {
    objectOf,
    hasObject(key) {
      if (objectOf(key) !== undefined) return true;
      // A key of another kind, or one not listed yet, may have an object all the same.
      return built.objectOf || !cache()?.hasSynced ? undefined : false;
    },
  };
}
