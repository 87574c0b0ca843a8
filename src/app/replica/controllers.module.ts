import { Module } from '@nestjs/common';
import type { Activation, ActorRuntime } from '../../kit/actor/index.js';
import type { ApiClient } from '../../kit/api-client/index.js';
import {
  withOwnWrites,
  withSpans,
  withTraceAnnotations,
  withWriteGuard,
} from '../../kit/api-client/index.js';
import type { Clock, RandomSource } from '../../base/clock/index.js';
import type { ControllerDependencies } from '../../kit/controller/index.js';
import { Controller, UnqueuedSweep } from '../../kit/controller/index.js';
import type { ApiEventRecorder } from '../../kit/events/index.js';
import type { DecisionLog, RunningSyncs } from '../explain/index.js';
import { ObservedReconciler } from '../explain/index.js';
import type { InformerFactory } from '../../kit/informer/index.js';
import { qualifiedResource } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { ManagedController } from '../../kit/manager/index.js';
import { NotedInformers, readabilityOf } from '../../kit/manager/index.js';
import type { Metrics, ResourceReadability, Tracing } from '../../kit/telemetry/index.js';
import { createControllerMetrics, observeReadability } from '../../kit/telemetry/index.js';
import { CoordinationModule } from './coordination.module.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ObservationModule } from './observation.module.js';
import type { ControllerClients } from './controller-clients.js';
import type { QueueFactory } from './queue-factory.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import * as tokens from './tokens.js';

/** The chosen controllers, each with its queue and its workers. */
@Module({
  imports: [KubernetesApiModule, CoordinationModule, ObservationModule],
  providers: [
    {
      provide: tokens.CONTROLLERS,
      inject: [
        tokens.OPTIONS,
        tokens.CONTROLLER_CLIENTS,
        tokens.INFORMERS,
        tokens.EVENTS,
        tokens.QUEUES,
        tokens.ACTORS,
        tokens.CLOCK,
        tokens.RANDOM,
        tokens.LOGGER,
        tokens.METRICS,
        tokens.TRACING,
        tokens.DECISIONS,
        tokens.RUNNING,
      ],
      useFactory: buildControllers,
    },
  ],
  exports: [tokens.CONTROLLERS, KubernetesApiModule, CoordinationModule, ObservationModule],
})
export class ControllersModule {}

function buildControllers(
  options: CompiledReplicaOptions,
  clients: ControllerClients,
  informers: InformerFactory,
  events: ApiEventRecorder,
  queues: QueueFactory,
  actors: ActorRuntime,
  clock: Clock,
  random: RandomSource,
  logger: Logger,
  { meter }: Metrics,
  { tracer }: Tracing,
  log: DecisionLog,
  running: RunningSyncs,
): ManagedController[] {
  const dependencies: Omit<ControllerDependencies, 'discovery' | 'events' | 'informers'> = {
    clock,
    random,
    logger,
    selects: options.scope.selects,
  };
  const metrics = createControllerMetrics(meter, options.workersOf);
  const managed = options.definitions.map((definition): ManagedController => {
    const { name } = definition;
    const client = clients.clientFor(definition);
    const traced = withSpans(withTraceAnnotations(client, clock), tracer, clock);
    const noted = new NotedInformers(informers);
    // As the genuine ones sign theirs: `deployment-controller`, `replicaset-controller`.
    const signed = events.as(`${name}-controller`);
    const built = definition.build({
      ...dependencies,
      discovery: client,
      informers: noted,
      events: signed,
      logger: logger.child({ controller: name }),
    });
    const pair = queues(name);
    const cached = (key: string) => informers.find(qualifiedResource(definition.type))?.lister.get(key);
    const controller = new Controller({
      name,
      reconciler: new ObservedReconciler(built.reconciler, {
        controller: name,
        replica: options.identity,
        log,
        running,
        clock,
      }),
      ...pair,
      actors,
      clientFor: (activation) => clientOf(traced, activation),
      informerOf: (resource) => (built.informerOf ? built.informerOf(resource) : informers.find(resource)),
      events: signed,
      objectOf: built.objectOf?.bind(built) ?? cached,
      clock,
      logger,
      tracer,
      metrics,
      workers: options.workersOf.get(name) ?? definition.defaultWorkers,
      caughtUpTimeoutMs: options['caught-up-timeout-ms'],
      syncTimeoutMs: options.syncTimeoutMsOf.get(name),
      replica: options.identity,
    });
    const due = built.due?.bind(built);
    const sweep =
      due && new UnqueuedSweep({ controller: name, queue: pair.queue, due, clock, logger, metrics });
    const { worksOn = 'all' } = definition;
    return { built, controller, needs: noted.needs, worksOn, ...(sweep ? { sweep } : {}) };
  });
  observeReadability(meter, () => managed.flatMap(readabilityByName));
  return managed;
}

function readabilityByName(managed: ManagedController): ResourceReadability[] {
  const controller = managed.controller.name;
  return [...readabilityOf(managed)].map((each) => ({ ...each, controller }));
}

/** The only client that a reconciler gets: it stops writing with the activation and remembers what it wrote. */
function clientOf(client: ApiClient, activation: Activation): ApiClient {
  const remembering = withOwnWrites(client, (resource, version) =>
    activation.recordOwnWrite(resource, version),
  );
  return withWriteGuard(remembering, activation.signal, () => activation.assertHeld());
}
