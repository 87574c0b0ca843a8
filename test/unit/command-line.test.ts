import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/rollkeeper/cli/program.js';

describe('a command line that is wrong', () => {
  let folder: string;
  let said = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-cli-'));
    writeFileSync(join(folder, 'empty.yaml'), 'kind: Deployment\n');
    writeFileSync(join(folder, 'broken.yaml'), 'a: [\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeEach(() => {
    said = '';
    // The supervisor of this process is the runner of the tests.
    vi.spyOn(process, 'disconnect').mockImplementation(() => undefined);
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    process.exitCode = undefined;
  });

  it.each([
    [['nope'], "error: unknown command 'nope'"],
    [
      ['up', '--kubernetes-version=1.30'],
      'error: there is no --kubernetes-version: the embedded API server is Kubernetes 1.36',
    ],
    [['nope', '--help'], "error: unknown command 'nope'"],
    [['help', 'nope'], "error: unknown command 'nope'"],
    [['explain'], "error: missing required argument 'name'"],
    [['queue', 'nope', 'deployment'], 'verb: "nope" is not one of'],
    [['rollout', 'nope', 'web'], 'verb: "nope" is not one of'],
    [['rollout', 'wait', 'deployment'], 'name: is missing after deployment'],
    [['rollout', 'wait', 'web', '--timeout', '5x'], 'timeout: "5x" is not a duration'],
    [['rollout', 'wait', 'web', '--timeout', '0'], 'timeout: must be longer than 0s'],
    [['rollout', 'wait', 'web', '--output', 'yaml'], 'output: "yaml" is neither text nor json'],
    [['rollout', 'wait', 'web', '-o', 'json', '--github'], 'github: cannot be combined with --output json'],
    [
      ['rollout', 'status', 'web', '--watch=false', '--until-held'],
      'until-held: cannot be combined with --watch=false',
    ],
    [['rollout', 'wait', 'web', '--watch=false'], 'watch: is only for status'],
    [
      ['explain', 'secret', 'web'],
      'kind: "secret" is not supported; only deployment and the kinds that --help lists are',
    ],
    [['explain', 'pod', 'web', '--kubeconfig', '/nope'], 'kubeconfig /nope: ENOENT'],
    [['plan', '-f', '/nope'], 'filename: ENOENT'],
    [['plan', '-f', 'empty.yaml', '-o', 'wide'], 'output: "wide" is not one of text, json, yaml'],
    [['status', '--json', '-o', 'yaml'], 'output: "yaml" conflicts with --json'],
    [['rollout', 'undo', 'web', '-o', 'wide'], 'output: "wide" is not one of text, json'],
    [['completion', 'tcsh'], 'shell: "tcsh" is not one of bash, zsh, fish'],
    [['diff', '3'], 'name: is missing before the revisions'],
    [['diff', 'web', '1', '2', '3'], 'revision: at most two'],
    [['timeline', 'web', '--since', 'yesterday'], 'since: "yesterday" is not a duration'],
    [['top', '--interval', '0'], 'interval: "0" is not a number of seconds'],
    [['doctor', '-o', 'name'], 'output: "name" is not one of text, json, yaml'],
    [['doctor', '--service-account', 'a/b/c'], 'service-account: "a/b/c" is not namespace/name'],
    [['doctor', '--controllers', 'deployment,job'], 'controllers: "job" is not one of deployment,'],
    [['queue', 'requeue', 'deployment', 'a/b', '--watch'], 'watch: is only for show'],
    [['plan', '-f', '.'], 'is a folder, not a regular file'],
    [['plan', '-f', '/dev/zero'], 'filename: /dev/zero is a device, not a regular file'],
    [['generate', 'types', '/dev/zero'], 'file: /dev/zero is a device, not a regular file'],
    [['generate', 'crd', '/dev/zero'], 'module: /dev/zero: /dev/zero is a device, not a regular file'],
    [['problems', '--kubeconfig', '/dev/zero'], 'kubeconfig /dev/zero: /dev/zero is a device'],
    [['scheduler', '--config', '/dev/zero'], 'config: /dev/zero is a device, not a regular file'],
    [['node', '--node-profiles', '/dev/zero'], 'node-profiles: /dev/zero is a device, not a regular file'],
    [['plan', '-f', 'empty.yaml'], 'the Deployment has no metadata.name'],
    [['plan', '-f', 'broken.yaml'], 'broken.yaml: '],
  ])('%j ends with 2 and says what is wrong, without a stack', async (args, says) => {
    const inFolder = args.map((arg) => (arg.endsWith('.yaml') || arg === '.' ? join(folder, arg) : arg));
    await runProgram('main.js', ['node', 'rollkeeper', ...inFolder]);
    expect({ code: process.exitCode, said }).toEqual({
      code: 2,
      said: expect.stringContaining(says) as string,
    });
    expect(said).not.toMatch(/^ {4}at /m);
  });
});
