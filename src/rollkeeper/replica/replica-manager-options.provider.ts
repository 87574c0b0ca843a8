import { Inject, Injectable } from '@nestjs/common';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { deploymentTypeOf } from '@rollkeeper/controllers/deployment';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ServedCertificate } from '@rollkeeper/tls';
import type { ClusterConnection, HttpApiClient } from '@rollkeeper/client/api-client';
import type { CreateManagerOptions } from '@rollkeeper/runtime';
import { trimsFor } from '@rollkeeper/client/informer';
import { redisCoordination } from '@rollkeeper/redis';
import type { Metrics, Tracing } from '@rollkeeper/runtime/telemetry';
import type { DecisionLog, RunningSyncs } from '../explain/index.js';
import { SyncJournal } from '../explain/index.js';
import type { ControllerClients } from './controller-clients.js';
import type { RedisPeerRegistry } from '../admin-pages/index.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { leaderElectionOf } from './replica.options.js';
import * as tokens from './tokens.js';

/** The options of a replica's manager, as anybody gives them to `RollkeeperModule.forRootAsync`. */
@Injectable()
export class ReplicaManagerOptions {
  constructor(
    @Inject(tokens.OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(tokens.API_CLIENT) private readonly client: HttpApiClient,
    @Inject(tokens.CONNECTION) private readonly connection: ClusterConnection,
    @Inject(tokens.CONTROLLER_CLIENTS) private readonly clients: ControllerClients,
    @Inject(tokens.CLOCK) private readonly clock: Clock,
    @Inject(tokens.RANDOM) private readonly random: RandomSource,
    @Inject(tokens.LOGGER) private readonly logger: Logger,
    @Inject(tokens.METRICS) private readonly metrics: Metrics,
    @Inject(tokens.TRACING) private readonly tracing: Tracing,
    @Inject(tokens.DECISIONS) private readonly log: DecisionLog,
    @Inject(tokens.RUNNING) private readonly running: RunningSyncs,
    @Inject(tokens.PEERS) private readonly peers: RedisPeerRegistry,
    @Inject(tokens.ADMIN_CERTIFICATE) private readonly certificate: ServedCertificate | null,
  ) {}

  create(): CreateManagerOptions {
    const { certificate, client, clock, log, logger, metrics, options, peers, random, running, tracing } =
      this;
    const { deploymentApis, identity, scope } = options;
    return {
      ...{ client, clock, identity, logger, metrics, random, tracing },
      name: 'rollkeeper',
      prefix: options['key-prefix'],
      cluster: { identity: options['cluster-identity'], replaces: options['replaces-cluster'] },
      coordination: redisCoordination(options['redis-url'], 'redis-url'),
      clientOf: (definition) => this.clients.clientFor(definition),
      rootCa: this.connection.tls.ca?.toString(),
      selects: scope.selects,
      cache: {
        trims: trimsFor(options.definitions),
        namespaces: scope.namespaces,
        selections: Object.fromEntries(
          deploymentApis
            .map(deploymentTypeOf)
            .map((type) => [qualifiedResource(type), { labelSelector: scope.selector }]),
        ),
      },
      leaderElection: {
        ...leaderElectionOf(options),
        lock: options['leader-elect-resource-lock'],
        namespace: options['leader-elect-resource-namespace'],
        name: options['leader-elect-resource-name'],
        coordinated: options['leader-elect-coordinated'],
      },
      reconcileOn: options['reconcile-on'],
      drainTimeoutMs: options['drain-timeout-ms'],
      caughtUpTimeoutMs: options['caught-up-timeout-ms'],
      background: [peers, ...(certificate ? [certificate] : [])],
      observers: [new SyncJournal({ replica: identity, log, running, clock })],
    };
  }
}
