import type { Command } from 'commander';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import { createProcessMetrics, startTracing } from '@rollkeeper/opentelemetry';
import { createApiServerMetrics } from '../app-metrics.js';
import { VERSION } from '@rollkeeper/machinery/version';
import type { RedisFlags } from './shared-options.js';
import { addRedisOptions, redisUrlOf } from './shared-options.js';

interface ApiServerCommandOptions extends RedisFlags {
  dataDir: string;
  port: string;
  host: string;
  advertiseHost?: string;
  kubeconfig?: string;
  tokenFile?: string;
  tokenAuthFile?: string;
  clientCaFile?: string;
  disableAdmissionPlugins?: string;
  unknownServiceAccounts?: string;
  insecure?: boolean;
}

/** `rollkeeper apiserver`: the embedded Kubernetes API on Redis. */
export function registerApiServerCommand(program: Command): void {
  addRedisOptions(program.command('apiserver'), 'where the objects are kept')
    .description('serve a Kubernetes API that keeps its objects in Redis')
    .option('--data-dir <folder>', 'where certificates and token are kept', '.rollkeeper')
    .option('--port <port>', 'port to listen on; 0 lets the system choose', '6443')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--advertise-host <name>', 'a further name or address of it, for clients on other machines')
    .option('--kubeconfig <file>', 'write a kubeconfig with all rights there once it listens (default: none)')
    .option(
      '--token-file <file>',
      'bearer token; made when it is missing (default: token in the data folder)',
    )
    .option('--token-auth-file <file>', 'further users: token,name,uid,"group,group" a line (default: none)')
    .option(
      '--client-ca-file <file>',
      'whose client certificates are taken (default: ca.crt in the data folder)',
    )
    .option(
      '--disable-admission-plugins <names>',
      'plug-ins that let everything pass, for example LimitRanger,Priority (default: none)',
    )
    .option(
      '--unknown-service-accounts <what>',
      'warn or refuse: what becomes of pods whose service account is not there (default: warn)',
    )
    .option('--insecure', 'plain HTTP without TLS, for measurements')
    .action((options: ApiServerCommandOptions) => runUntilStopped((signal) => run(options, signal)));
}

async function run(options: ApiServerCommandOptions, signal: AbortSignal): Promise<void> {
  // Only now: a process shall not hold in memory what another command needs.
  const { runApiServerProcess } = await import('@rollkeeper/apiserver');
  const tracing = startTracing({
    serviceName: 'rollkeeper-apiserver',
    instance: `${options.host}:${options.port}`,
    version: VERSION,
    env: process.env,
  });
  const metrics = createProcessMetrics();
  try {
    await runApiServerProcess(
      {
        ...options,
        redisUrl: redisUrlOf(options, process.env) ?? '',
        port: Number(options.port),
      },
      {
        logger: createPinoLogger({ base: { role: 'apiserver' } }),
        metrics: createApiServerMetrics(metrics),
        onReady: (url) => {
          heapIsLoaded();
          tellParent({ type: 'ready', url });
        },
      },
      signal,
    );
  } finally {
    await Promise.all([tracing.shutdown(), metrics.shutdown()]);
  }
}
