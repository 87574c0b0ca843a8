import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPTS = join(import.meta.dirname, '..', '..', 'scripts');
const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

/** Nothing listens at port 9 of this machine. */
const NOBODY_ANSWERS = `
clusters: [{ name: none, cluster: { server: 'http://127.0.0.1:9' } }]
users: [{ name: none, user: {} }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
current-context: none
`;

describe('a command line that is wrong', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-cli-'));
    writeFileSync(join(folder, 'empty.yaml'), 'kind: Deployment\n');
    writeFileSync(join(folder, 'broken.yaml'), 'a: [\n');
    writeFileSync(join(folder, 'kubeconfig.yaml'), NOBODY_ANSWERS);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], { cwd: folder, encoding: 'utf8', env: { PATH: '' } });

  // Each way to be wrong is in test/unit/command-line.test.ts.
  it.each([
    [['nope'], "error: unknown command 'nope'"],
    [['controller', '--bad'], "error: unknown option '--bad'"],
    [
      ['controller', '--redis-url', 'redis://x', '--controllers=wrong'],
      'controllers: "wrong" is no controller',
    ],
    [['controller', '--redis-url', 'redis://x', '--leader-elect=no'], 'leader-elect: must be true or false'],
    [['plan', '-f', 'broken.yaml'], 'filename: broken.yaml: '],
  ])('%j ends with 2 and says what is wrong, without a stack', (args, says) => {
    const { status, stderr } = run(args);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(says) as string });
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it.each([[['--help']], [['help', 'queue']], [['queue', '--help']], [['--version']]])(
    '%j ends well',
    (args) => {
      expect(run(args)).toMatchObject({ status: 0, stderr: '' });
    },
  );

  it.each(['bash', 'zsh', 'fish'])('prints a script for %s, and answers what it asks', (shell) => {
    expect(run(['completion', shell])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('rollkeeper __complete -- '),
    });
    expect(run(['__complete', '--', 'rollout', 'hi'])).toMatchObject({ status: 0, stdout: 'history\n:4\n' });
  });

  it('is a plugin of kubectl: it calls itself so, and completes as kubectl asks', () => {
    const script = (name: string, args: readonly string[]) =>
      spawnSync(process.execPath, [join(SCRIPTS, name), ...args], { cwd: folder, encoding: 'utf8' });
    expect(script('kubectl-rollkeeper.mjs', ['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: kubectl rollkeeper /),
    });
    expect(script('kubectl-complete-rollkeeper.mjs', ['queue', 'un']).stdout).toBe('unpark\n:4\n');
  });

  it('has no colours in a pipe', () => {
    const { status, stdout } = run(['doctor', '--kubeconfig', 'kubeconfig.yaml', '--no-dry-run']);
    expect(status).toBe(4);
    expect(stdout).toMatch(/^FAILURE {2}api +the Kubernetes API does not answer: /);
    expect(stdout).not.toContain('\u001b');
  });

  it('fails with 1 where nothing is wrong with the command line', () => {
    expect(run(['status'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('nothing is running'),
    });
  });
});
