import { spawn, spawnSync } from 'node:child_process';

/** Says one line to the person who waits. */
export function say(line) {
  process.stderr.write(`rollkeeper: ${line}\n`);
}

/** Ends the process with one clear line. */
export function fail(line) {
  say(line);
  process.exit(1);
}

/** Runs a command with the terminal attached; resolves with its exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    const release = endWithUs(child);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      release();
      resolve(signal ? EXIT_CODE_OF_SIGTERM : (code ?? 1));
    });
  });
}

export const EXIT_CODE_OF_SIGTERM = 128 + 15;
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT = process.ppid;
const LOOK_FOR_PARENT_EVERY_MS = 500;

/**
 * Hands on the signals that ask this process to stop, and asks `child` to stop when npm is gone. npm runs a script in a shell and
 * gives a SIGTERM of its own to that shell alone, which dies without a word to its child. Started by anything else, a process may
 * outlive its parent: that is how people put it into the background. Answers what takes all of it back.
 */
export function endWithUs(child) {
  const forward = (signal) => child.kill(signal);
  for (const signal of STOP_SIGNALS) process.on(signal, forward);
  const isRunByNpm = process.env.npm_command !== undefined;
  const timer = setInterval(() => {
    if (!isRunByNpm || process.ppid === PARENT) return;
    clearInterval(timer);
    forward('SIGTERM');
  }, LOOK_FOR_PARENT_EVERY_MS);
  return () => {
    clearInterval(timer);
    for (const signal of STOP_SIGNALS) process.off(signal, forward);
  };
}

/** Runs a command quietly; answers its output, or undefined when it cannot be run or fails. */
export function tryOutput(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  return result.status === 0 ? result.stdout : undefined;
}

/** Runs a command quietly; on failure shows what it printed and answers false. */
export function runQuietly(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (result.status === 0) return true;
  process.stderr.write(
    `${result.stdout ?? ''}${result.stderr ?? ''}${result.error ? `${result.error.message}\n` : ''}`,
  );
  return false;
}
