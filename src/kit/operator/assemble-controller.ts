import type { Tracer } from '@opentelemetry/api';
import type { Activation, ActorRuntime } from '../actor/index.js';
import type { ApiClient } from '../api-client/index.js';
import { withOwnWrites, withSpans, withTraceAnnotations, withWriteGuard } from '../api-client/index.js';
import type { Clock, RandomSource } from '../../base/clock/index.js';
import type { Informer, InformerFactory } from '../informer/index.js';
import { qualifiedResource } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { ControllerDefinition, ControllerMetrics, Reconciler } from '../controller/index.js';
import { Controller, UnqueuedSweep } from '../controller/index.js';
import type { EventRecorder } from '../events/index.js';
import type { ManagedController } from '../manager/index.js';
import type { QueuePair } from './coordination.js';

/** What the controllers of a replica share. */
export interface SharedParts {
  /** This replica's name, for spans. */
  readonly identity: string;
  readonly client: ApiClient;
  readonly informers: InformerFactory;
  readonly queueOf: (controller: string) => QueuePair;
  readonly actors: ActorRuntime;
  /** Signs events for a controller. */
  readonly eventsOf: (component: string) => EventRecorder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics: ControllerMetrics;
  /** How long a sync waits for its caches, milliseconds. */
  readonly caughtUpTimeoutMs: number;
  /** Put around each reconciler, to watch it at work. @default nothing */
  readonly around?: (reconciler: Reconciler, controller: string) => Reconciler;
}

/** Puts one controller together: its queue and workers, the activations' client, the sweep. Nothing runs yet. */
export function assembleController(definition: ControllerDefinition, parts: SharedParts): ManagedController {
  const { actors, around, clock, identity, informers, logger, metrics, random, tracer } = parts;
  const { defaultWorkers, name, syncTimeoutMs, type } = definition;
  const events = parts.eventsOf(`${name}-controller`);
  const built = definition.build({
    informers,
    events,
    clock,
    random,
    logger: logger.child({ controller: name }),
  });
  const pair = parts.queueOf(name);
  const informerOf = (resource: string): Informer | undefined =>
    informers.all().find((informer) => qualifiedResource(informer.type) === resource);
  const cached = (key: string) => informerOf(qualifiedResource(type))?.lister.get(key);
  const traced = withSpans(withTraceAnnotations(parts.client, clock), tracer, clock);
  const controller = new Controller({
    name,
    reconciler: around?.(built.reconciler, name) ?? built.reconciler,
    ...pair,
    actors,
    clientFor: (activation) => clientOf(traced, activation),
    informerOf,
    events,
    objectOf: built.objectOf?.bind(built) ?? cached,
    clock,
    logger,
    tracer,
    metrics,
    workers: defaultWorkers,
    caughtUpTimeoutMs: parts.caughtUpTimeoutMs,
    syncTimeoutMs,
    replica: identity,
  });
  const due = built.due?.bind(built);
  const sweep =
    due && new UnqueuedSweep({ controller: name, queue: pair.queue, due, clock, logger, metrics });
  return { built, controller, ...(sweep ? { sweep } : {}) };
}

/** The only client that a reconciler gets: it stops writing with the activation and remembers what it wrote. */
function clientOf(client: ApiClient, activation: Activation): ApiClient {
  const remembering = withOwnWrites(client, (resource, version) =>
    activation.recordOwnWrite(resource, version),
  );
  return withWriteGuard(remembering, activation.signal, () => activation.assertHeld());
}
