import type { Command } from 'commander';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import { startTracing } from '@rollkeeper/opentelemetry';
import { VERSION } from '@rollkeeper/machinery/version';

interface NodeCommandOptions {
  kubeconfig?: string;
  nodes: string;
  readyDelayMs: string;
  terminationDelayMs: string;
  concurrency: string;
  podsPerNode: string;
}

/** `rollkeeper node`: plays the scheduler and the kubelets of N nodes. */
export function registerNodeCommand(program: Command): void {
  program
    .command('node')
    .description('play the kubelets of N nodes: pods become Running and Ready, deletions finish')
    .option('--nodes <count>', 'nodes to play', '3')
    .option('--kubeconfig <file>', 'the API to play on (default: as kubectl finds it)')
    .option('--ready-delay-ms <ms>', 'from the start of a container until it is ready', '0')
    .option('--termination-delay-ms <ms>', 'from the deletion of a pod until it is gone', '0')
    .option('--concurrency <count>', 'writes to the API at once', '32')
    .option('--pods-per-node <count>', 'pods that fit on one node', '10000')
    .action((options: NodeCommandOptions) => runUntilStopped((signal) => run(options, signal)));
}

async function run(options: NodeCommandOptions, signal: AbortSignal): Promise<void> {
  // Only now: a process shall not hold in memory what another command needs.
  const { runNodeProcess } = await import('@rollkeeper/simulator');
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
        nodes: Number(options.nodes),
        readyDelayMs: Number(options.readyDelayMs),
        terminationDelayMs: Number(options.terminationDelayMs),
        concurrency: Number(options.concurrency),
        podsPerNode: Number(options.podsPerNode),
      },
      {
        logger: createPinoLogger({ base: { role: 'node' } }),
        userAgent: `rollkeeper/${VERSION} (node)`,
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
