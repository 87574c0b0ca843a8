import type { AdminPorts } from '../admin/index.js';
import { startAdminServer } from '../admin/index.js';
import type { OnServing, RedisPeerRegistry } from '../admin-pages/index.js';
import { announceReplica } from '../admin-pages/index.js';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { Logger } from '@rollkeeper/machinery/logging';
import { ControllerManager } from '@rollkeeper/runtime';
import type { Metrics, Tracing } from '@rollkeeper/runtime/telemetry';
import type { ControllerClients } from './controller-clients.js';
import { ReplicaModule } from './replica.module.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import * as tokens from './tokens.js';

/**
 * Runs one replica until aborted: admin pages first, then the manager; on the way out the manager stops first and
 * the admin pages last.
 * @throws StartupError
 */
export async function runReplica(
  options: CompiledReplicaOptions,
  onServing: OnServing,
  signal: AbortSignal,
): Promise<void> {
  const server = await startAdminServer(ReplicaModule.forRoot(options), {
    host: options['admin-host'],
    port: options['admin-port'],
    tls: options.adminTls.serves !== 'plain-http',
  });
  const logger = server.get<Logger>(tokens.LOGGER);
  const ports = server.get<AdminPorts>(tokens.PORTS);
  const peers = server.get<RedisPeerRegistry>(tokens.PEERS);
  const manager = server.get<ControllerManager>(ControllerManager);
  try {
    logger.info('serving', {
      adminUrl: server.url,
      certificates: ports.certificate?.fingerprints,
      controllers: options.definitions.map(({ name }) => name),
    });
    if (options.elsewhere.length > 0)
      logger.info('named in --controllers, and nothing to do here', { controllers: options.elsewhere });
    await manager.waitUntilUsable(signal);
    announceReplica({ url: server.url, host: options['admin-host'], ports, peers, onServing });
    await manager.run(signal);
  } finally {
    const closings = [
      manager.close(),
      server.get<ControllerClients>(tokens.CONTROLLER_CLIENTS).close(),
      server.get<HttpApiClient>(tokens.API_CLIENT).close(),
      server.get<Tracing>(tokens.TRACING).shutdown(),
      server.get<Metrics>(tokens.METRICS).shutdown(),
    ];
    peers.close();
    for (const closing of await Promise.allSettled(closings)) {
      if (closing.status === 'rejected')
        logger.warn('a part did not close cleanly', { error: closing.reason as Error });
    }
    await server.close();
  }
}
