import { Module } from '@nestjs/common';
import type { ActorRuntime } from '../../kit/actor/index.js';
import type { Clock, RandomSource } from '../../base/clock/index.js';
import type { ClusterConnection } from '../../kit/api-client/index.js';
import type { ApiEventRecorder } from '../../kit/events/index.js';
import type { DecisionLog, RunningSyncs } from '../explain/index.js';
import { ObservedReconciler } from '../explain/index.js';
import type { InformerFactory } from '../../kit/informer/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { ManagedController } from '../../kit/manager/index.js';
import { readabilityOf } from '../../kit/manager/index.js';
import type { SharedParts } from '../../kit/operator/assemble-controller.js';
import { assembleController } from '../../kit/operator/assemble-controller.js';
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
        tokens.CONNECTION,
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
  connection: ClusterConnection,
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
  const shared: SharedParts = {
    identity: options.identity,
    clientOf: (definition) => clients.clientFor(definition),
    informers,
    queueOf: queues.shared,
    localQueueOf: queues.local,
    rootCa: connection.tls.ca?.toString(),
    actors,
    eventsOf: (component) => events.as(component),
    clock,
    random,
    logger,
    tracer,
    metrics: createControllerMetrics(meter, options.workersOf),
    selects: options.scope.selects,
    caughtUpTimeoutMs: options['caught-up-timeout-ms'],
    around: (reconciler, controller) =>
      new ObservedReconciler(reconciler, { controller, replica: options.identity, log, running, clock }),
  };
  const managed = options.definitions.map((definition) => {
    const { defaultWorkers, name } = definition;
    const workers = options.workersOf.get(name) ?? defaultWorkers;
    const syncTimeoutMs = options.syncTimeoutMsOf.get(name);
    return assembleController({ ...definition, defaultWorkers: workers, syncTimeoutMs }, shared);
  });
  observeReadability(meter, () => managed.flatMap(readabilityByName));
  return managed;
}

function readabilityByName(managed: ManagedController): ResourceReadability[] {
  const controller = managed.controller.name;
  return [...readabilityOf(managed)].map((each) => ({ ...each, controller }));
}
