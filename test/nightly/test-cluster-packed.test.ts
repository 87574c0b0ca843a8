import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'dist', 'main.js');
const LIBRARY = join(ROOT, 'src', 'testing', 'dist', 'index.js');
const SHOP = join(ROOT, 'examples', 'test-your-app', 'shop.yaml');

interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<{
    code: number | null;
    signal: NodeJS.Signals | null;
    stdout: string;
    stderr: string;
  }>;
}

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

function start(args: readonly string[], input = ''): Running {
  // This very Node, which runs the tests.
  const child = spawn(process.execPath, args, { stdio: 'pipe', env: { ...process.env, NODE_OPTIONS: '' } });
  children.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  child.stdin.end(input);
  const ended = new Promise<Awaited<Running['ended']>>((resolve) => {
    child.once('close', (code, signal) => {
      children.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

const cli = (args: readonly string[], input?: string) => start([MAIN, 'test-cluster', ...args], input);
/** A cluster that is there at once, for what is about the command alone. */
const BARE = ['--nodes', '0', '--controllers', 'none'];
const sh = (script: string): string[] => ['--', 'sh', '-c', script];

describe('rollkeeper test-cluster', () => {
  it('runs a command with a cluster of its own, on its own input and output, and ends with its exit code', async () => {
    const script = [
      'kubectl -n shop wait deployment/web --for=jsonpath={.status.readyReplicas}=3 --timeout=60s',
      'kubectl get nodes -o name',
      'cat',
      'echo "config $KUBECONFIG" >&2',
      'exit 7',
    ].join('\n');
    const { code, stderr, stdout } = await cli(['-f', SHOP, '--nodes', '2', ...sh(script)], 'from outside')
      .ended;
    expect(stdout).toBe('deployment.apps/web condition met\nnode/node-0\nnode/node-1\nfrom outside');
    expect(code).toBe(7);
    const [, path = ''] = /config (.*)/.exec(stderr) ?? [];
    expect(path).not.toBe('');
    expect(existsSync(path)).toBe(false);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'passes %s on, and waits for what the command makes of it',
    async (signal) => {
      const name = signal.slice(3);
      const running = cli([
        ...BARE,
        ...sh(`trap 'echo heard; exit 5' ${name}; echo up; while :; do sleep 0.05; done`),
      ]);
      await waitFor(() => running.stdout().includes('up'), { what: 'the command' });
      running.child.kill(signal);
      expect(await running.ended).toMatchObject({ code: 5, stdout: 'up\nheard\n' });
    },
  );

  it('passes a signal on that comes with the first breath of the command', async () => {
    const running = cli([...BARE, ...sh(`trap 'exit 5' INT; kill -INT $PPID; while :; do sleep 0.05; done`)]);
    expect(await running.ended).toMatchObject({ code: 5, signal: null });
  });

  it.each([
    ['killed', sh('kill -9 $$'), 137, ''],
    [
      'that does not exist',
      ['--', 'no-such-command'],
      127,
      'rollkeeper: no-such-command: command not found\n',
    ],
    ['that is no program', ['--', SHOP], 126, `rollkeeper: ${SHOP}: permission denied\n`],
  ])('tells of a command %s as a shell does', async (_, args, code, stderr) => {
    expect(await cli([...BARE, ...args]).ended).toMatchObject({ code, stderr });
  });

  it.each([
    [['--controllers', 'nope'], /^rollkeeper: controllers: "nope" is no controller/],
    [['-f', '/nowhere.yaml'], /^rollkeeper: manifests\[0\]: \/nowhere\.yaml cannot be read/],
    [['--nodes', 'many'], /^rollkeeper: nodes: "many" is not a number/],
  ])('does not run the command with %j', async (options, message) => {
    const { code, stderr, stdout } = await cli([...options, ...sh('echo ran')]).ended;
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  it('without a command tells what to type, and stays until it is told to stop', async () => {
    const running = cli([]);
    await waitFor(() => running.stdout().includes('\n'), { what: 'the kubeconfig' });
    const [, path = ''] = /^export KUBECONFIG=(.*)$/m.exec(running.stdout()) ?? [];
    expect(existsSync(path)).toBe(true);
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(existsSync(path)).toBe(false);
  });
});

describe('a process that has had a test cluster', () => {
  let redis: TestRedisServer;
  const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-library-'));
  beforeAll(async () => {
    redis = await startTestRedisServer();
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const program = (name: string, body: string): string => {
    const path = join(dir, `${name}.mjs`);
    writeFileSync(path, `import { startTestCluster } from ${JSON.stringify(LIBRARY)};\n${body}\n`);
    return path;
  };

  it.each(['memory', 'redis'])(
    'keeps neither a timer nor a socket of it, and ends by itself, on %s',
    async (kind) => {
      const options = {
        store: kind === 'memory' ? 'memory' : { redisUrl: redis.url },
        manifests: { file: SHOP },
      };
      const path = program(
        kind,
        `const cluster = await startTestCluster(${JSON.stringify(options)});
       await cluster.waitFor('shop/deployment/web', (web) => web?.status?.readyReplicas === 3);
       await cluster.stop();
       const held = (types) => process.getActiveResourcesInfo().filter((type) => types.test(type));
       // What is closed is let go of in the next turns of the event loop; a timer that guards a close goes with it.
       while (held(/TCP|TLS|Server/).length > 0) await new Promise(setImmediate);
       for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
       console.log(JSON.stringify(held(/Timeout|TCP|TLS|Server/)));`,
      );
      expect(await start([path]).ended).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
    },
  );

  it('takes the kubeconfig along even where nobody has stopped the cluster', async () => {
    const body = 'console.log((await startTestCluster()).kubeconfig.path); process.exit(3);';
    const { code, stdout } = await start([program('exit', body)]).ended;
    expect(code).toBe(3);
    expect(stdout.trim()).toMatch(/kubeconfig$/);
    expect(existsSync(stdout.trim())).toBe(false);
  });
});

it('the example for Node’s own test runner passes', async () => {
  const example = join(ROOT, 'examples', 'test-your-app', 'shop.test.mjs');
  const { code, stdout } = await start(['--test', '--test-reporter=tap', example]).ended;
  expect(stdout).toContain('# pass 5');
  expect(code).toBe(0);
});
