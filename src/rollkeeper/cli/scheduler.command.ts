import type { Command } from 'commander';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import { createProcessMetrics, startTracing } from '@rollkeeper/opentelemetry';
import { VERSION } from '@rollkeeper/machinery/version';
import { SCHEDULER_OPTIONS_TABLE } from '../replica/scheduler-process/scheduler-options.table.js';
import { addOptions, byTableName } from './table-options.js';

/** `rollkeeper scheduler`: finds a node for each pod, as kube-scheduler does. */
export function registerSchedulerCommand(program: Command): void {
  const command = program
    .command('scheduler')
    .description('find a node for each pod, as kube-scheduler does; several may run, one schedules');
  addOptions(command, SCHEDULER_OPTIONS_TABLE).action((flags: Record<string, string>) =>
    runUntilStopped((signal) => run(flags, signal)),
  );
}

async function run(flags: Record<string, string>, signal: AbortSignal): Promise<void> {
  // Imported lazily to keep other commands small.
  const { runSchedulerProcess } = await import('../replica/scheduler-process/run-scheduler-process.js');
  const { compileTable } = await import('@rollkeeper/machinery/options/compile-table');
  const options = compileTable(SCHEDULER_OPTIONS_TABLE, byTableName(flags));
  const port = options['metrics-port'];
  const tracing = startTracing({
    serviceName: 'rollkeeper-scheduler',
    instance: options.identity ?? String(process.pid),
    version: VERSION,
    env: process.env,
  });
  const metrics = createProcessMetrics();
  try {
    await runSchedulerProcess(
      {
        kubeconfig: options.kubeconfig,
        config: options.config,
        policyConfigFile: options['policy-config-file'],
        plugins: options.plugins,
        schedulerName: options['scheduler-name'],
        leaderElect: options['leader-elect'],
        lease: options.lease,
        identity: options.identity,
        probes: port === undefined ? undefined : { port, host: options['metrics-host'] },
      },
      {
        logger: createPinoLogger({ base: { role: 'scheduler' } }),
        userAgent: `rollkeeper/${VERSION} (scheduler)`,
        tracer: tracing.tracer,
        metrics,
        onReady: (url) => {
          heapIsLoaded();
          tellParent({ type: 'ready', ...(url !== undefined && { url }) });
        },
      },
      signal,
    );
  } finally {
    await Promise.allSettled([tracing.shutdown(), metrics.shutdown()]);
  }
}
