import { Inject, Injectable } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { ControllerManager } from '@rollkeeper/runtime';
import type { AdminModuleOptions } from '../admin/server/index.js';
import { ReplicaStatusSource, createAdminPorts } from '../admin/pages/index.js';
import { OtherClusters } from '../admin/clusters/index.js';
import { DelegatedAccess } from '../admin/delegated-access/index.js';
import { OidcSignIn, OpenIdProvider } from '../admin/oidc/index.js';
import { AdminCredentials } from './admin-credentials.js';
import { ReplicaBesides } from './besides.service.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import { Observation } from './observation.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';
import { redactText } from '@rollkeeper/machinery/logging';
import { describeRedis } from '@rollkeeper/redis/connection';

const HIDDEN = '(hidden)';
const SECRET = /token|password|secret|kubeconfig|private-key/i;

/** The options as they can be given. Hides passwords in URLs and names of secret files; what was made of options is not shown. */
export function withoutSecrets({
  adminTls,
  checkResults: _checkResults,
  definitions,
  deploymentApis: _apis,
  elsewhere: _elsewhere,
  eventSinks: _eventSinks,
  evictionWebhook: _evictionWebhook,
  notificationHosts: _notificationHosts,
  oidc: _oidc,
  clusters: _clusters,
  'redis-url': redisUrl,
  scope,
  syncTimeoutMsOf,
  workersOf,
  ...options
}: CompiledReplicaOptions): Record<string, unknown> {
  const shown = Object.entries(options).map(([name, value]: [string, unknown]) => {
    if (SECRET.test(name) && value !== undefined) return [name, HIDDEN] as const;
    return [name, typeof value === 'string' ? redactText(value) : value] as const;
  });
  return {
    ...Object.fromEntries(shown),
    'redis-url': redisUrl === undefined ? undefined : describeRedis(redisUrl),
    controllers: definitions.map(({ name }) => name),
    scope: { namespaces: scope.namespaces, selector: scope.selector },
    workers: Object.fromEntries(workersOf),
    'admin-serves': adminTls.serves,
    'sync-timeout-ms': Object.fromEntries(syncTimeoutMsOf),
  };
}

/** The admin pages' dependencies, from the replica's parts. */
@Injectable()
export class ReplicaAdminOptions {
  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(KubernetesApi) private readonly api: KubernetesApi,
    @Inject(Observation) private readonly observation: Observation,
    @Inject(AdminCredentials) private readonly credentials: AdminCredentials,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(ReplicaBesides) private readonly besides: ReplicaBesides,
  ) {}

  create(): AdminModuleOptions {
    const { clock, credentials, manager, observation, options } = this;
    const { logger, metrics, traces } = this.telemetry;
    const { certificate, token } = credentials;
    const { decisions, objectives, peers, running } = observation;
    const status = new ReplicaStatusSource(manager, clock);
    return {
      ...{ health: manager.health, metrics, status },
      ports: createAdminPorts({
        openMetrics: options['admin-open-metrics'],
        localReads: options['admin-local-reads'],
        config: () => withoutSecrets(options),
        delegated: this.delegatedAccess(),
        clientAs: (who) => this.api.users.of(who),
        oidc: this.identityProvider(),
        consoleUrl: options['console-url'],
        clusters: this.otherClusters(),
        besides: this.besides,
        ...{
          certificate,
          clock,
          decisions,
          logger,
          manager,
          objectives,
          peers,
          running,
          status,
          token,
          traces,
        },
      }),
    };
  }

  private identityProvider(): OidcSignIn | undefined {
    const { clock, credentials } = this;
    const { oidc } = this.options;
    if (!oidc) return undefined;
    const provider = new OpenIdProvider(oidc, clock);
    return new OidcSignIn({ options: oidc, provider, clock, secret: credentials.token ?? undefined });
  }

  private otherClusters(): OtherClusters | undefined {
    const { clusters, 'console-clusters-ca-file': caFile } = this.options;
    return clusters.length === 0 ? undefined : new OtherClusters({ clusters, caFile, clock: this.clock });
  }

  private delegatedAccess(): DelegatedAccess | null {
    if (this.options['admin-auth'] !== 'delegated') return null;
    const { client } = this.api;
    return new DelegatedAccess({ client, clock: this.clock, logger: this.telemetry.logger });
  }
}
