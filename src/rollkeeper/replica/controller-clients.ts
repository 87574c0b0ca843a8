import type {
  ApiClient,
  ApiClientMetrics,
  ClusterConnection,
  HttpApiClient,
} from '@rollkeeper/client/api-client';
import { connectionFor, createHttpApiClient, serviceAccountCredentials } from '@rollkeeper/client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import type { Logger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';
import { withRateLimit } from './rate-limited-client.js';
import type { CompiledReplicaOptions } from './replica.options.js';

interface ControllerClientsDependencies {
  readonly client: HttpApiClient;
  readonly connection: ClusterConnection;
  readonly options: Pick<
    CompiledReplicaOptions,
    | 'use-service-account-credentials'
    | 'service-account-namespace'
    | 'service-account-prefix'
    | 'kube-api-qps'
    | 'kube-api-burst'
  >;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly metrics: ApiClientMetrics;
}

/**
 * Name of a controller's service account, if each has its own.
 * @returns undefined for one that works with the replica's credentials in any case
 */
export function serviceAccountOf(
  { name, serviceAccount }: Pick<ControllerDefinition, 'name' | 'serviceAccount'>,
  prefix = '',
): string | undefined {
  return serviceAccount === null ? undefined : prefix + (serviceAccount ?? `${name}-controller`);
}

/**
 * The API client of each controller: with its own user agent, and optionally its own account and rate limit, as in
 * kube-controller-manager.
 */
export class ControllerClients {
  private readonly own: HttpApiClient[] = [];

  constructor(private readonly deps: ControllerClientsDependencies) {}

  clientFor(definition: ControllerDefinition): ApiClient {
    const { clock, metrics, options } = this.deps;
    const userAgent = `rollkeeper/${VERSION} (${serviceAccountOf(definition) ?? `${definition.name}-controller`})`;
    const account = serviceAccountOf(definition, options['service-account-prefix']);
    const client =
      options['use-service-account-credentials'] && account !== undefined
        ? this.ownClient(account, userAgent)
        : this.deps.client.as(userAgent);
    const { 'kube-api-qps': qps, 'kube-api-burst': burst = Math.max(1, Math.ceil(2 * qps)) } = options;
    return qps === 0 ? client : withRateLimit(client, { qps, burst }, { clock, metrics });
  }

  async close(): Promise<void> {
    await Promise.all(this.own.map((client) => client.close()));
  }

  private ownClient(name: string, userAgent: string): HttpApiClient {
    const { client, clock, connection, logger, metrics, options, random } = this.deps;
    const serviceAccount = { namespace: options['service-account-namespace'], name };
    const credentials = serviceAccountCredentials({ client, serviceAccount, clock, random });
    const own = createHttpApiClient({
      connection: connectionFor(connection, credentials),
      userAgent,
      clock,
      random,
      logger,
      metrics,
    });
    this.own.push(own);
    return own;
  }
}
