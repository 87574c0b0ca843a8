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

  it.each([
    [['nope'], "error: unknown command 'nope'"],
    [
      ['up', '--kubernetes-version=1.30'],
      'error: there is no --kubernetes-version: the embedded API server is Kubernetes 1.36',
    ],
    [['nope', '--help'], "error: unknown command 'nope'"],
    [['help', 'nope'], "error: unknown command 'nope'"],
    [['explain'], "error: missing required argument 'name'"],
    [['controller', '--bad'], "error: unknown option '--bad'"],
    [
      ['controller', '--redis-url', 'redis://x', '--controllers=wrong'],
      'controllers: "wrong" is no controller',
    ],
    [['controller', '--redis-url', 'redis://x', '--leader-elect=no'], 'leader-elect: must be true or false'],
    [['queue', 'nope', 'deployment'], 'verb: "nope" is none of'],
    [['rollout', 'nope', 'web'], 'verb: "nope" is none of'],
    [['rollout', 'wait', 'deployment'], 'name: is missing after deployment'],
    [['rollout', 'wait', 'web', '--timeout', '5x'], 'timeout: "5x" is not a duration'],
    [['rollout', 'wait', 'web', '--timeout', '0'], 'timeout: must be longer than 0s'],
    [['rollout', 'wait', 'web', '--output', 'yaml'], 'output: "yaml" is neither text nor json'],
    [['rollout', 'wait', 'web', '-o', 'json', '--github'], 'github: cannot be given with --output json'],
    [
      ['rollout', 'status', 'web', '--watch=false', '--until-held'],
      'until-held: cannot be given with --watch=false',
    ],
    [['rollout', 'wait', 'web', '--watch=false'], 'watch: is of status'],
    [
      ['explain', 'secret', 'web'],
      'kind: "secret" is none that this works on; only deployment and the kinds that --help names are',
    ],
    [['explain', 'pod', 'web', '--kubeconfig', '/nope'], 'kubeconfig /nope: ENOENT'],
    [['plan', '-f', '/nope'], 'filename: ENOENT'],
    [['plan', '-f', 'empty.yaml', '-o', 'wide'], 'output: "wide" is none of text, json, yaml'],
    [['status', '--json', '-o', 'yaml'], 'output: "yaml" contradicts --json'],
    [['rollout', 'undo', 'web', '-o', 'wide'], 'output: "wide" is none of text, json'],
    [['completion', 'tcsh'], 'shell: "tcsh" is none of bash, zsh, fish'],
    [['diff', '3'], 'name: is missing before the revisions'],
    [['diff', 'web', '1', '2', '3'], 'revision: two at most'],
    [['timeline', 'web', '--since', 'yesterday'], 'since: "yesterday" is not a duration'],
    [['top', '--interval', '0'], 'interval: "0" is not a number of seconds'],
    [['doctor', '-o', 'name'], 'output: "name" is none of text, json, yaml'],
    [['doctor', '--service-account', 'a/b/c'], 'service-account: "a/b/c" is not namespace/name'],
    [['doctor', '--controllers', 'deployment,job'], 'controllers: "job" is none of deployment,'],
    [['queue', 'requeue', 'deployment', 'a/b', '--watch'], 'watch: is of show'],
    [['plan', '-f', '.'], 'filename: EISDIR'],
    [['plan', '-f', 'empty.yaml'], 'the Deployment has no metadata.name'],
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
