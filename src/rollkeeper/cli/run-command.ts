import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { StartupError } from '@rollkeeper/machinery/errors';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;
/** What a terminal sends to everybody who runs on it. */
const FROM_TERMINAL: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGWINCH']);

const UNABLE: Readonly<Record<string, { readonly exitCode: number; readonly why: string }>> = {
  ENOENT: { exitCode: 127, why: 'command not found' },
  EACCES: { exitCode: 126, why: 'permission denied' },
};

/** No system has all of them. */
const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, number>>> = constants.signals;

/**
 * Runs a command in the place of this process: on its standard input, output and error, with the signals that it gets.
 * Resolves with the exit code as a shell tells it: of the command, 128 and its number for a signal, 127 for a command that
 * does not exist, 126 for one that cannot be run.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  let child: ChildProcess | undefined;
  const forward = (signal: NodeJS.Signals): void => {
    // Twice would be once too often: many programs take the second for "at once".
    if (process.stdin.isTTY && FROM_TERMINAL.has(signal)) return;
    child?.kill(signal);
  };
  // Before the command is there: it may have us told to end before we know that it has begun.
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    const started = (child = spawn(command, args, { env, stdio: 'inherit' }));
    return await new Promise<number>((resolve, reject) => {
      started.once('error', (error: NodeJS.ErrnoException) => {
        const known = UNABLE[error.code ?? ''];
        if (!known)
          return reject(new StartupError(`${command} cannot be run: ${error.message}`, { cause: error }));
        process.stderr.write(`rollkeeper: ${command}: ${known.why}\n`);
        resolve(known.exitCode);
      });
      started.once('exit', (code, signal) => resolve(code ?? 128 + (SIGNALS[signal ?? 'SIGTERM'] ?? 0)));
    });
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}
