import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectPlainFailures, runAllAgainst } from './support/commands-of-a-cluster.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'rollkeeper-silent-'))));
afterAll(() => rmSync(folder, { recursive: true }));

// The other faults of a port are in test/nightly/faulty-api.test.ts.
describe('every command that uses a cluster', () => {
  it('gives up in one line where an API server accepts connections and never answers', async () => {
    const ended = await runAllAgainst('accepts and never answers', folder);
    expectPlainFailures(ended, /the API server at http:\S+ does not answer: nothing came for /);
  }, 240_000);
});

describe('a command whose output nothing reads any more', () => {
  it.each([
    [['--help'], 0],
    [['completion', 'bash'], 0],
    [['doctor', '--kubeconfig', 'none'], 2],
    [['queue', '--help'], 0],
  ])('%j ends quietly', async (args, status) => {
    const env = { PATH: '', KUBECONFIG: join(folder, 'kubeconfig') };
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: 'pipe' });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    expect(await once(child, 'close')).toEqual([status, null]);
    expect(stderr).not.toMatch(/EPIPE|^ {4}at /m);
  });
});
