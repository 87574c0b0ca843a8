import type { OnModuleDestroy } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { ClusterConnection, HttpApiClient } from '@rollkeeper/client/api-client';
import { createHttpApiClient, loadKubeconfig } from '@rollkeeper/client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';
import { createApiClientMetrics } from '@rollkeeper/runtime/telemetry';
import { closeAll } from './close-all.js';
import { ControllerClients } from './controller-clients.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { UserClients } from './user-clients.js';
import type { ReplicaTelemetry } from './replica-telemetry.service.js';

interface Parts {
  readonly connection: ClusterConnection;
  readonly client: HttpApiClient;
  readonly clients: ControllerClients;
  readonly users: UserClients;
  readonly logger: Logger;
}

/** The Kubernetes API for this replica: one client for all, and one for each controller. */
@Injectable()
export class KubernetesApi implements OnModuleDestroy {
  readonly connection: ClusterConnection;
  readonly client: HttpApiClient;
  readonly clients: ControllerClients;
  /** For callers of the admin API with a token of the cluster. */
  readonly users: UserClients;
  private readonly logger: Logger;

  constructor({ client, clients, connection, logger, users }: Parts) {
    this.connection = connection;
    this.client = client;
    this.clients = clients;
    this.users = users;
    this.logger = logger;
  }

  /** Reads the kubeconfig; sends nothing yet. */
  static async load(
    this: void,
    options: CompiledReplicaOptions,
    { logger, metrics: { meter } }: Pick<ReplicaTelemetry, 'logger' | 'metrics'>,
    clock: Clock,
    random: RandomSource,
  ): Promise<KubernetesApi> {
    const { context, kubeconfig: path } = options;
    const connection = await loadKubeconfig({ path, context, clock, logger });
    const used = { connection, clock, random, logger, metrics: createApiClientMetrics(meter) };
    const client = createHttpApiClient({ ...used, userAgent: `rollkeeper/${VERSION} (controller)` });
    const clients = new ControllerClients({ ...used, client, options });
    const users = new UserClients({ connection, clock, logger });
    return new KubernetesApi({ connection, client, clients, users, logger });
  }

  onModuleDestroy(): Promise<void> {
    return closeAll(this.logger, [this.users.close(), this.clients.close(), this.client.close()]);
  }
}
