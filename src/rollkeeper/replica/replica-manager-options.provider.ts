import { Inject, Injectable } from '@nestjs/common';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { deploymentTypeOf } from '@rollkeeper/controllers/deployment';
import type { CreateManagerOptions } from '@rollkeeper/runtime';
import { trimsFor } from '@rollkeeper/client/informer';
import { redisCoordination } from '@rollkeeper/redis';
import { AdminCredentials } from './admin-credentials.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import { Observation } from './observation.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { leaderElectionOf } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** The options of a replica's manager, in the form of `RollkeeperModule.forRootAsync`. */
@Injectable()
export class ReplicaManagerOptions {
  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(SystemRandom) private readonly random: SystemRandom,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(KubernetesApi) private readonly api: KubernetesApi,
    @Inject(Observation) private readonly observation: Observation,
    @Inject(AdminCredentials) private readonly credentials: AdminCredentials,
  ) {}

  create(): CreateManagerOptions {
    const { api, clock, observation, options, random } = this;
    const { logger, metrics, tracing } = this.telemetry;
    const { certificate } = this.credentials;
    return {
      ...{ client: api.client, clock, identity: options.identity, logger, metrics, random, tracing },
      name: 'rollkeeper',
      prefix: options['key-prefix'],
      cluster: { identity: options['cluster-identity'], replaces: options['replaces-cluster'] },
      coordination: coordinationOf(options),
      clientOf: (definition) => api.clients.clientFor(definition),
      rootCa: api.connection.tls.ca?.toString(),
      selects: options.scope.selects,
      cache: cacheOf(options),
      leaderElection: {
        ...leaderElectionOf(options),
        lock: options['leader-elect-resource-lock'],
        namespace: options['leader-elect-resource-namespace'],
        name: options['leader-elect-resource-name'],
        coordinated: options['leader-elect-coordinated'],
      },
      reconcileOn: options['reconcile-on'],
      drainTimeoutMs: options['drain-timeout-ms'],
      spreadAfterMs: options['spread-after-ms'],
      slots: options.slots === 0 ? undefined : options.slots,
      caughtUpTimeoutMs: options['caught-up-timeout-ms'],
      background: [observation.peers, ...(certificate ? [certificate] : [])],
      observers: [observation.journal],
    };
  }
}

function coordinationOf({
  coordination,
  'redis-url': redisUrl,
}: CompiledReplicaOptions): CreateManagerOptions['coordination'] {
  return redisUrl === undefined ? coordination : redisCoordination(redisUrl, 'redis-url');
}

function cacheOf({
  definitions,
  deploymentApis,
  scope,
}: CompiledReplicaOptions): CreateManagerOptions['cache'] {
  return {
    trims: trimsFor(definitions),
    namespaces: scope.namespaces,
    selections: Object.fromEntries(
      deploymentApis
        .map(deploymentTypeOf)
        .map((type) => [qualifiedResource(type), { labelSelector: scope.selector }]),
    ),
  };
}
