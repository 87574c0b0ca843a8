import { spawn } from 'node:child_process';
import { mkdtempSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';

const RUN = new URL('../../scripts/lib/run.mjs', import.meta.url).href;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollkeeper-launcher-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A launcher below a shell, as npm starts one, and the program that it runs; resolves once both run. */
async function startBelowShell(env: NodeJS.ProcessEnv) {
  const file = (name: string): string => join(folder, name);
  const write = (name: string, value: string): string =>
    `(await import('node:fs')).writeFileSync(${JSON.stringify(file(name))}, String(${value}));`;
  const program = `process.on('SIGTERM', async () => { ${write('stopped', '1')} process.exit(0); });
    ${write('program', 'process.pid')} setInterval(() => {}, 1000);`;
  const launcher = `import { run } from '${RUN}';
    ${write('launcher', 'process.pid')}
    const parent = process.ppid;
    let looks = 0;
    setInterval(async () => {
      if (process.ppid !== parent && ++looks === 2) { ${write('orphaned', '1')} }
    }, 501).unref();
    await run(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(program)}]);`;
  const shell = spawn('sh', ['-c', '"$0" --input-type=module -e "$1"; true', process.execPath, launcher], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const pidIn = (name: string): number => Number(readFileSync(file(name), 'utf8'));
  await waitFor(() => existsSync(file('program')) && pidIn('program') > 0, {
    what: 'the program to run',
    timeoutMs: 60_000,
  });
  return {
    shell,
    wasStopped: () => existsSync(file('stopped')),
    hasSeenItsParentGone: () => existsSync(file('orphaned')),
    isRunning: (name: 'launcher' | 'program') => isAlive(pidIn(name)),
    kill: () => {
      for (const name of ['launcher', 'program'])
        if (isAlive(pidIn(name))) process.kill(pidIn(name), 'SIGKILL');
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the start of the program', () => {
  it('stops it when npm ends, which stops the shell alone', async () => {
    const started = await startBelowShell({ npm_command: 'run-script' });
    started.shell.kill('SIGTERM');
    await waitFor(() => !started.isRunning('program') && !started.isRunning('launcher'), {
      what: 'launcher and program to end',
      timeoutMs: 60_000,
    });
    expect(started.wasStopped()).toBe(true);
  });

  it('lets it go on in the background when npm has no part in it', async () => {
    const started = await startBelowShell({ npm_command: undefined });
    started.shell.kill('SIGTERM');
    try {
      await waitFor(started.hasSeenItsParentGone, {
        what: 'two looks at a parent that is gone',
        timeoutMs: 60_000,
      });
      expect(started.isRunning('program')).toBe(true);
    } finally {
      started.kill();
    }
  });
});
