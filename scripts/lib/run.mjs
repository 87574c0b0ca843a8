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
    const forward = (signal) => child.kill(signal);
    process.on('SIGINT', forward);
    process.on('SIGTERM', forward);
    process.on('SIGHUP', forward);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      process.off('SIGHUP', forward);
      resolve(signal ? 128 + 15 : (code ?? 1));
    });
  });
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
