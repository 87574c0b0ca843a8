import type { Command } from 'commander';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import { createProcessMetrics, startTracing } from '@rollkeeper/opentelemetry';
import { createApiServerMetrics } from './api-server-metrics.js';
import { VERSION } from '@rollkeeper/machinery/version';
import { APISERVER_OPTIONS_TABLE } from './apiserver-options.table.js';
import { REDIS_CA_FILE_OPTION, redisUrlOf } from './shared-options.js';
import { addOptions, byTableName } from './table-options.js';

/** `rollkeeper apiserver`: the embedded Kubernetes API on Redis. */
export function registerApiServerCommand(program: Command): void {
  const { 'redis-url': redisUrl, ...others } = APISERVER_OPTIONS_TABLE;
  const command = program
    .command('apiserver')
    .description('serve a Kubernetes API that keeps its objects in Redis');
  addOptions(command, { 'redis-url': redisUrl, ...REDIS_CA_FILE_OPTION, ...others }).action(
    (flags: Record<string, string>) => runUntilStopped((signal) => run(flags, signal)),
  );
}

async function run(
  { redisCaFile, redisUrl, ...flags }: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  // Imported lazily to keep other commands small.
  const { runApiServerProcess } = await import('@rollkeeper/apiserver');
  const { compileTable } = await import('@rollkeeper/machinery/options/compile-table');
  const { policyChecks } = await import('./policy-checks.js');
  const options = compileTable(APISERVER_OPTIONS_TABLE, {
    ...byTableName(flags),
    'redis-url': redisUrlOf({ redisCaFile, redisUrl }, process.env),
  });
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
        redisUrl: options['redis-url'] ?? '',
        dataDir: options['data-dir'],
        port: options.port,
        host: options.host,
        advertiseHost: options['advertise-host'],
        kubeconfig: options.kubeconfig,
        tokenFile: options['token-file'],
        tokenAuthFile: options['token-auth-file'],
        clientCaFile: options['client-ca-file'],
        disableAdmissionPlugins: options['disable-admission-plugins'],
        unknownServiceAccounts: options['unknown-service-accounts'],
        featureGates: options['feature-gates'],
        insecure: options.insecure,
      },
      {
        logger: createPinoLogger({ base: { role: 'apiserver' } }),
        metrics: createApiServerMetrics(metrics),
        checks: policyChecks(options['invalid-policies']),
        flags: { 'invalid-policies': options['invalid-policies'] },
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
