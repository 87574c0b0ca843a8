import type { AdminPorts, AdminServer, Peer } from '../admin/index.js';
import { proofOf, startAdminServer } from '../admin/index.js';
import type { HttpApiClient } from '../../kit/api-client/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { ControllerManager } from '../../kit/index.js';
import type { Metrics, Tracing } from '../../kit/telemetry/index.js';
import type { ControllerClients } from './controller-clients.js';
import { ReplicaModule } from './replica.module.js';
import { reachableUrl } from './reachable-url.js';
import type { RedisPeerRegistry } from './redis-peer-registry.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import * as tokens from './tokens.js';

/** Where a replica serves its admin pages, and by which certificates it is known there, if it speaks TLS. */
export interface ServedReplica {
  readonly identity: string;
  readonly adminUrl: string;
  /** SHA-256 fingerprints. */
  readonly certificates?: readonly string[];
}

/** Called once the replica serves its admin pages, and again when it shows another certificate there. */
export type OnServing = (replica: ServedReplica) => void;

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
  const manager = server.get<ControllerManager>(tokens.MANAGER);
  try {
    logger.info('serving', {
      adminUrl: server.url,
      certificates: server.get<AdminPorts>(tokens.PORTS).certificate?.fingerprints,
      controllers: options.definitions.map(({ name }) => name),
    });
    await manager.waitUntilUsable(signal);
    announce(server, options, onServing);
    await manager.run(signal);
  } finally {
    const closings = [
      manager.close(),
      server.get<ControllerClients>(tokens.CONTROLLER_CLIENTS).close(),
      server.get<HttpApiClient>(tokens.API_CLIENT).close(),
      server.get<Tracing>(tokens.TRACING).shutdown(),
      server.get<Metrics>(tokens.METRICS).shutdown(),
    ];
    server.get<RedisPeerRegistry>(tokens.PEERS).close();
    for (const closing of await Promise.allSettled(closings)) {
      if (closing.status === 'rejected')
        logger.warn('a part did not close cleanly', { error: closing.reason as Error });
    }
    await server.close();
  }
}

/** Tells the others and whoever has started us where we are, and again when our certificate changes. */
function announce(server: AdminServer, options: CompiledReplicaOptions, onServing: OnServing): void {
  const { identity } = options;
  const { certificate, startedAtMs, token } = server.get<AdminPorts>(tokens.PORTS);
  const peers = server.get<RedisPeerRegistry>(tokens.PEERS);
  const tell = (): void => {
    const certificates = certificate && { certificates: certificate.fingerprints };
    const adminUrl = reachableUrl(server.url, options['admin-host']);
    const peer: Peer = { identity, adminUrl, pid: process.pid, startedAtMs, ...certificates };
    peers.announceAs(token === undefined ? peer : { ...peer, proof: proofOf(peer, token) });
    onServing({ identity, adminUrl: server.url, ...certificates });
  };
  tell();
  certificate?.onChange(tell);
}
