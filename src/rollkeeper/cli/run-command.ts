import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { StartupError } from '@rollkeeper/machinery/errors';
import { printError } from '@rollkeeper/machinery/process';

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
export async function runCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
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
