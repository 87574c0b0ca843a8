import type { Runnable } from '@rollkeeper/runtime/manager';
import type {
  ExtendedManager,
  ManagerExtension,
  ManagerExtensionContext,
  ManagerExtensionFactory,
  SyncObserver,
} from '@rollkeeper/runtime';
import { RecentTraces } from '@rollkeeper/opentelemetry';
import { describeRedis } from '@rollkeeper/redis/connection';
import type { AdminPorts, AdminServer } from '../server/index.js';
import { AdminModule, startAdminServer } from '../server/index.js';
import { DelegatedAccess } from '../delegated-access/index.js';
import { DecisionLog, RunningSyncs, SyncJournal } from '../../insight/explain/index.js';
import type { AdminPagesOptions, CompiledAdminPagesOptions } from './admin-pages.options.js';
import { OPTION_NAMES, compileAdminPagesOptions } from './admin-pages.options.js';
import { createAdminPorts } from './admin-ports.js';
import { readAdminToken } from './admin-token.js';
import { loadAdminCertificate } from './admin-tls.js';
import { announceReplica } from './announce-replica.js';
import type { ReplicaRegistry } from './replica-registry.js';
import { replicaRegistry } from './replica-registry.js';
import { ReplicaStatusSource } from './replica-status.js';

/**
 * Rollkeeper's admin port for any manager of the kit, as an entry of its `extensions`: health, metrics, status, queues
 * with parked keys, running and past syncs, the console with its traces, explanations of Deployments if a controller
 * watches them. It is served before anything else of the manager runs, and until everything else has ended.
 * @throws InvalidOptionError naming the option
 */
export function adminPages(options: AdminPagesOptions): ManagerExtensionFactory {
  const compiled = compileAdminPagesOptions(options);
  return (context) => new AdminPages(compiled, context);
}

class AdminPages implements ManagerExtension {
  readonly spanProcessors: readonly RecentTraces[];
  readonly background: readonly Runnable[];
  readonly observer: SyncObserver;
  private readonly traces: RecentTraces;
  private readonly decisions = new DecisionLog();
  private readonly running: RunningSyncs;
  private readonly peers: ReplicaRegistry;
  private served: { readonly server: AdminServer; readonly ports: AdminPorts } | undefined;

  constructor(
    private readonly options: CompiledAdminPagesOptions,
    private readonly context: ManagerExtensionContext,
  ) {
    const { clock, identity, logger, prefix: keyPrefix, redisUrl } = context;
    this.traces = new RecentTraces(identity, options.recentTraces);
    this.spanProcessors = options.recentTraces > 0 ? [this.traces] : [];
    this.running = new RunningSyncs(clock);
    const { decisions: log, running } = this;
    this.observer = new SyncJournal({ replica: identity, log, running, clock });
    this.peers = replicaRegistry({ redisUrl, keyPrefix, identity, clock, logger });
    this.background = [this.peers];
  }

  async start(manager: ExtendedManager): Promise<void> {
    const { host, port, tls } = this.options;
    const ports = await this.portsOf(manager);
    const { status } = ports;
    const { health, logger, metrics } = manager;
    const module = AdminModule.forRoot({ health, metrics, ports, status });
    const server = await startAdminServer(module, { host, port, tls: tls.serves !== 'plain-http' });
    this.served = { server, ports };
    logger.info('serving', { adminUrl: server.url, certificates: ports.certificate?.fingerprints });
  }

  usable(): void {
    const { host } = this.options;
    if (!this.served) return;
    const { ports, server } = this.served;
    announceReplica({ url: server.url, host, ports, peers: this.peers });
  }

  async close(): Promise<void> {
    this.peers.close();
    await this.served?.server.close();
  }

  private async portsOf(manager: ExtendedManager): Promise<AdminPorts> {
    const { auth, host, localReads, openMetrics, tls, tokenFile } = this.options;
    const { clock, logger } = this.context;
    const certificate = await loadAdminCertificate(tls, host, {
      clock,
      logger,
      option: OPTION_NAMES.certFile,
    });
    return createAdminPorts({
      ...{ manager, clock, logger, certificate, openMetrics, localReads },
      token: readAdminToken(tokenFile, OPTION_NAMES.tokenFile),
      delegated: auth === 'delegated' ? new DelegatedAccess({ client: manager.client, clock, logger }) : null,
      status: new ReplicaStatusSource(manager, clock),
      config: () => this.shownOptions(manager),
      ...{ decisions: this.decisions, running: this.running, traces: this.traces, peers: this.peers },
    });
  }

  private shownOptions({ controllers, reconcileOn }: ExtendedManager): Readonly<Record<string, unknown>> {
    const { name, prefix, redisUrl } = this.context;
    return {
      ...{ name, prefix, reconcileOn },
      redisUrl: redisUrl === undefined ? undefined : describeRedis(redisUrl),
      workers: Object.fromEntries(controllers.map(({ controller }) => [controller.name, controller.workers])),
    };
  }
}
