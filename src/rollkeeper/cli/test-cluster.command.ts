import { aborted } from '@rollkeeper/machinery/cancellation';
import type { Command } from 'commander';
import { InvalidOptionError, StartupError } from '@rollkeeper/machinery/errors';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { failProcess, heapIsLoaded, print, printError } from '@rollkeeper/machinery/process';
import type { TestCluster, TestClusterOptions } from '@rollkeeper/testing/cluster';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;
/** Signals that a terminal sends to all processes in the foreground. */
const FROM_TERMINAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGWINCH']);

const UNABLE: Readonly<Record<string, { readonly exitCode: number; readonly why: string }>> = {
  ENOENT: { exitCode: 127, why: 'command not found' },
  EACCES: { exitCode: 126, why: 'permission denied' },
};

/** No system has all of them. */
const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, number>>> = constants.signals;

/**
 * Runs a command in the place of this process: with its standard input, output and error, and its signals. Resolves
 * with the exit code of a shell: the command's, 128 plus the number of a signal, 127 for an unknown command, 126 for
 * one that cannot be run.
 */
async function runCommand(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let child: ChildProcess | undefined;
  const forward = (signal: NodeJS.Signals): void => {
    // The terminal has sent it to the command already: many programs take a second signal as "at once".
    if (process.stdin.isTTY && FROM_TERMINAL.has(signal)) return;
    child?.kill(signal);
  };
  // Before the command starts: it may cause a signal to us before we know that it has started.
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    const started = (child = spawn(command, args, { env, stdio: 'inherit' }));
    return await new Promise<number>((resolve, reject) => {
      started.once('error', (error: NodeJS.ErrnoException) => {
        const known = UNABLE[error.code ?? ''];
        if (!known)
          return reject(new StartupError(`${command} cannot be run: ${error.message}`, { cause: error }));
        printError(`rollkeeper: ${command}: ${known.why}`);
        resolve(known.exitCode);
      });
      started.once('exit', (code, signal) => resolve(code ?? 128 + (SIGNALS[signal ?? 'SIGTERM'] ?? 0)));
    });
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}

interface TestClusterFlags {
  nodes: string;
  controllers: string;
  filename: string[];
  redisUrl?: string;
  port: string;
  verbose?: boolean;
}

/** `rollkeeper test-cluster -- pytest`: runs a cluster as long as a command runs. */
export function registerTestClusterCommand(program: Command): void {
  program
    .command('test-cluster')
    .description('run a command with KUBECONFIG set to a temporary cluster of its own')
    .usage('[options] [-- command args...]')
    .option('--nodes <count>', 'simulated nodes; with 0, pods stay Pending', '3')
    .option('--controllers <list>', 'as for kube-controller-manager; none: no controllers', '*')
    .option(
      '-f, --filename <path>',
      'manifests to apply first, a file or a folder; may be repeated',
      (path: string, before: string[]) => [...before, path],
      [],
    )
    .option('--redis-url <url>', 'store everything in this Redis, under its own prefix (default: in memory)')
    .option('--port <port>', 'port of the API server on 127.0.0.1; 0 lets the system choose', '0')
    .option('--verbose', 'log to standard error what the cluster does')
    .argument('[command...]', 'command to run, after --; without it, the cluster runs until Ctrl-C')
    .action((command: string[], flags: TestClusterFlags) => run(command, flags));
}

async function run([command, ...args]: string[], flags: TestClusterFlags): Promise<void> {
  const stopper = new AbortController();
  let commandRuns = false;
  const onSignal = (): void => {
    if (!commandRuns) stopper.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, onSignal);
  let cluster: TestCluster | undefined;
  try {
    // Imported lazily to keep other commands small.
    const { startTestCluster } = await import('@rollkeeper/testing/cluster');
    cluster = await startTestCluster({ ...optionsOf(flags), signal: stopper.signal });
    heapIsLoaded();
    if (command === undefined) {
      print(`export KUBECONFIG=${cluster.env.KUBECONFIG}`);
      await aborted(stopper.signal);
    } else {
      // From here on the command handles signals, and its end stops the cluster. There is no moment without a listener,
      // in which a signal would end this process and leave the command behind.
      commandRuns = true;
      process.exitCode = await runCommand(command, args, { ...process.env, ...cluster.env });
    }
  } catch (error) {
    if (stopper.signal.aborted) process.exitCode = 130;
    else failProcess(error);
  } finally {
    await cluster?.stop().catch(failProcess);
    for (const name of signals) process.off(name, onSignal);
  }
}

function optionsOf(flags: TestClusterFlags): TestClusterOptions {
  const { controllers, filename, redisUrl, verbose } = flags;
  return {
    existingCluster: false,
    nodes: numberOf('nodes', flags.nodes),
    controllers: controllers === 'none' ? [] : controllers,
    manifests: filename.map((file) => ({ file })),
    port: numberOf('port', flags.port),
    ...(redisUrl === undefined ? {} : { store: { redisUrl } }),
    ...(verbose ? { logger: createPinoLogger({ base: { role: 'test-cluster' } }) } : {}),
  };
}

function numberOf(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidOptionError(option, `"${text}" is not a number`);
  return Number(text);
}
