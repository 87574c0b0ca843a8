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
  ObstructedKeys,
  SyncObserver,
} from '../../controller/index.js';
import { Controller, UnqueuedSweep, activationClient, buildController } from '../../controller/index.js';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { ControllerQueue } from '../../activation/index.js';
import type { ManagedController } from '../../manager/index.js';
import { NotedInformers } from '../../manager/index.js';
import type { Coordination } from '../coordination/coordination.js';

/** The parts that the controllers of a replica share. */
export interface SharedParts {
  /** This replica's name, for spans. */
  readonly identity: string;
  /** The API as a controller sees it. */
  readonly clientOf: (definition: ControllerDefinition) => ApiClient;
  readonly informers: InformerFactory;
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
  const { clock, identity, informers, logger, metrics, observers, random, selects, tracer } = parts;
  const { defaultWorkers, name, queue: waitsIn = 'shared', queueing, syncTimeoutMs, type } = definition;
  const worksOn = waitsIn === 'local' ? 'leader' : (definition.worksOn ?? 'all');
  const isLeadersAlone = worksOn === 'leader' || parts.reconcileOn === 'leader';
  const assertMayWork = isLeadersAlone ? parts.assertLeads : undefined;
  const client = parts.clientOf(definition);
  const traced = withSpans(withTraceAnnotations(client, clock), tracer, clock);
  const noted = new NotedInformers(informers);
  // As in Kubernetes: `deployment-controller`, `replicaset-controller`.
  const events = parts.eventsOf(definition.eventSource ?? `${name}-controller`);
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
  const activations = parts.activationsOf(name, { tuning: queueing, waitsIn });
  const cacheOf = (resource: string) => noted.find(resource) ?? informers.find(resource);
  const { hasObject, objectOf } = objectLookup(built, () => cacheOf(qualifiedResource(type)));
  const controller = new Controller({
    name,
    sync: built.sync,
    observers,
    activations,
    clientFor: (activation) => activationClient(traced, activation, clock, assertMayWork),
    informerOf: (resource) => (built.informerOf ? built.informerOf(resource) : cacheOf(resource)),
    events,
    objectOf,
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
  const due = built.due?.bind(built);
  const sweep =
    due && new UnqueuedSweep({ controller: name, queue: activations.queue, due, clock, logger, metrics });
  return {
    built,
    controller,
    hasObject,
    activations,
    queue: activations.queue,
    needs: noted.needs,
    worksOn,
    ...(sweep ? { sweep } : {}),
  };
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
