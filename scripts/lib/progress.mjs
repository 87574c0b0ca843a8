// Shows the person who waits for a first start its long steps: which one runs, how far it is, and for how long.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODE_OF_SIGTERM, endWithUs, say } from './run.mjs';

/** How often a log gets a line; a terminal's line is rewritten every second. */
const LOG_EVERY_MS = 10_000;
const TERMINAL_EVERY_MS = 1000;

/**
 * Runs a command without showing its output, and says every few seconds that `what` goes on, with `detail()` where it is given.
 * Shows the output when the command fails. Resolves with whether it succeeded.
 */
export function runWithProgress(what, command, args, { detail, ...options } = {}) {
  const startedMs = Date.now();
  const chunks = [];
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    const release = endWithUs(child);
    const stopProgress = showProgress(() => {
      const seconds = Math.round((Date.now() - startedMs) / 1000);
      return `${what}: ${[detail?.(), `${seconds} s`].filter(Boolean).join(', ')}`;
    });
    const end = (succeeded, message) => {
      stopProgress();
      release();
      if (!succeeded)
        process.stderr.write(`${Buffer.concat(chunks).toString()}${message ? `${message}\n` : ''}`);
      resolve(succeeded);
    };
    child.on('error', (error) => end(false, error.message));
    child.on('close', (code, signal) => {
      end(code === 0);
      if (signal) process.exit(EXIT_CODE_OF_SIGTERM);
    });
  });
}

function showProgress(line) {
  if (!process.stderr.isTTY) {
    const timer = setInterval(() => say(line()), LOG_EVERY_MS);
    return () => clearInterval(timer);
  }
  const write = () => process.stderr.write(`\r\u001b[Krollkeeper: ${line()}`);
  const timer = setInterval(write, TERMINAL_EVERY_MS);
  write();
  return () => {
    clearInterval(timer);
    process.stderr.write('\r\u001b[K');
  };
}

/** The packages that the lockfile names for this platform, and how many of them have arrived below `root`. */
export function packagesOf(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const wanted = Object.entries(packages)
    .filter(([path, entry]) => path !== '' && !entry.link && isForThisPlatform(entry))
    .map(([path]) => join(root, path, 'package.json'));
  return { total: wanted.length, arrived: () => wanted.filter((path) => existsSync(path)).length };
}

/** npm's rule for `os` and `cpu`: a list of what fits, or of what does not with `!` before it. */
function isForThisPlatform({ os, cpu }) {
  const fits = (list, own) =>
    !list ||
    (list.includes(`!${own}`) ? false : list.some((name) => name.startsWith('!')) || list.includes(own));
  return fits(os, process.platform) && fits(cpu, process.arch);
}
