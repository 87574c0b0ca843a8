import { counted } from '@rollkeeper/machinery/text';
import { aborted } from '@rollkeeper/machinery/cancellation';
import type { Command } from 'commander';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { print, runUntilStopped } from '@rollkeeper/machinery/process';
import type { UpSummary } from '../replica/supervisor/index.js';
import { UP_OPTIONS_TABLE } from '../replica/supervisor/up-options.table.js';
import { REDIS_CA_FILE_OPTION, redisUrlOf } from './shared-options.js';
import { addOptions, byTableName } from './table-options.js';

/** `rollkeeper up`: starts everything on this machine. */
export function registerUpCommand(program: Command, main: string): void {
  const { 'redis-url': redisUrl, ...others } = UP_OPTIONS_TABLE;
  const command = program
    .command('up')
    .description('start Redis, an API server, simulated nodes and controller replicas on this machine');
  addOptions(command, { 'redis-url': redisUrl, ...REDIS_CA_FILE_OPTION, ...others })
    .argument('[controllerArgs...]', 'options for every controller, after --; see `controller --help`')
    .action((controllerArgs: string[], options: Record<string, string>) =>
      runUp(options, controllerArgs, main),
    );
}

async function runUp(
  { redisCaFile, redisUrl, ...others }: Record<string, string>,
  controllerArgs: string[],
  main: string,
): Promise<void> {
  // All files of this process and its children, including Redis, are for this user only.
  process.umask(0o077);
  await runUntilStopped(async (signal) => {
    // Imported lazily to keep other commands small.
    const { Supervisor, compileUpOptions } = await import('../replica/supervisor/index.js');
    const up = compileUpOptions({
      ...byTableName<typeof UP_OPTIONS_TABLE>(others),
      'redis-url': redisUrlOf({ redisCaFile, redisUrl }, process.env),
      'controller-args': controllerArgs,
    });
    if (up['node-profiles'] !== undefined && up.nodes > 0) {
      const { readNodeProfiles } = await import('../replica/scheduler-process/node-profiles.js');
      await readNodeProfiles(up['node-profiles'], up.nodes);
    }
    const logger = createPinoLogger({ level: 'warn', format: 'pretty', base: { role: 'up' } });
    const clock = new SystemClock();
    const startedMs = clock.monotonicNow();
    const supervisor = new Supervisor({ up, main, env: process.env, clock, logger });
    const summary = await supervisor.start(signal);
    print(readyMessage(summary, (clock.monotonicNow() - startedMs) / 1000));
    await aborted(signal);
    print('Stopping …');
    await supervisor.stop();
    print('Stopped. All data is kept; start again to continue.');
  });
}

function readyMessage(
  { apiServerUrl, consoleUrl, kubeconfig, nodes, replicas, signInLink }: UpSummary,
  seconds: number,
): string {
  return [
    `Rollkeeper is ready (${seconds.toFixed(1)} s): ${counted(replicas, 'controller replica')}, ${counted(nodes, 'node')}, API server at ${apiServerUrl}`,
    '',
    'Next, in another terminal:',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl create deployment nginx --image=nginx:1.27 --replicas=3',
    '  kubectl get deployments,replicasets,pods',
    '',
    `Watch it, and see why something is stuck: ${consoleUrl}`,
    ...(signInLink === undefined
      ? []
      : [
          `Sign in there, to change things too: ${signInLink}`,
          '  (valid once, for five minutes; `rollkeeper console` prints another one)',
        ]),
    '',
    'Ctrl-C stops everything; what you created is kept.',
  ].join('\n');
}
