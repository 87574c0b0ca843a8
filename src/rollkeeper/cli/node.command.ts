import type { Command } from 'commander';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import { startTracing } from '@rollkeeper/opentelemetry';
import { VERSION } from '@rollkeeper/machinery/version';
import { NODE_OPTIONS_TABLE } from './node-options.table.js';
import { addOptions, byTableName } from './table-options.js';

/** `rollkeeper node`: simulates the kubelets of N nodes, and schedules pods beside them. */
export function registerNodeCommand(program: Command): void {
  const command = program
    .command('node')
    .description(
      'simulate the kubelets of N nodes (pods become Running and Ready, deletions finish), and schedule pods',
    );
  addOptions(command, NODE_OPTIONS_TABLE).action((flags: Record<string, string>) =>
    runUntilStopped((signal) => run(flags, signal)),
  );
}

async function run(flags: Record<string, string>, signal: AbortSignal): Promise<void> {
  // Imported lazily to keep other commands small.
  const { runNodeProcess } = await import('../replica/scheduler-process/run-node-process.js');
  const { compileTable } = await import('@rollkeeper/machinery/options/compile-table');
  const options = compileTable(NODE_OPTIONS_TABLE, byTableName(flags));
  const tracing = startTracing({
    serviceName: 'rollkeeper-node',
    instance: String(process.pid),
    version: VERSION,
    env: process.env,
  });
  try {
    await runNodeProcess(
      {
        kubeconfig: options.kubeconfig,
        nodes: options.nodes,
        readyDelayMs: options['ready-delay-ms'],
        terminationDelayMs: options['termination-delay-ms'],
        concurrency: options.concurrency,
        podsPerNode: options['pods-per-node'],
        profilesFile: options['node-profiles'],
        ...(options.scheduler && {
          scheduler: { config: options['scheduler-config'], plugins: options['scheduler-plugins'] },
        }),
      },
      {
        logger: createPinoLogger({ base: { role: 'node' } }),
        userAgent: `rollkeeper/${VERSION} (node)`,
        tracer: tracing.tracer,
        onReady: () => {
          heapIsLoaded();
          tellParent({ type: 'ready' });
        },
      },
      signal,
    );
  } finally {
    await tracing.shutdown();
  }
}
