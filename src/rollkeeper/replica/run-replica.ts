import { startAdminServer } from '../admin/server/index.js';
import type { OnServing } from '../admin/pages/index.js';
import { ReplicaModule } from './replica.module.js';
import { ReplicaRunner } from './replica-runner.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';

/**
 * Runs one replica until aborted: admin pages first, then the manager. On shutdown the manager stops first; then Nest
 * destroys the parts that it used, telemetry last (`onModuleDestroy`), and ends the admin pages
 * (`beforeApplicationShutdown`) and their port.
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
  try {
    await server.get(ReplicaRunner).run(server.url, onServing, signal);
  } finally {
    await server.close();
  }
}
