import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { TOKEN, aDeployment, startApiServer } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer({ tls: true });
});
afterAll(() => server.stop());

/** The one of the machine, unless told otherwise; any from 1.20 on. */
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

/** Runs kubectl against the server, over TLS. */
function kubectl(...args: string[]): Promise<Outcome> {
  const env = { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.dir };
  return new Promise((resolve) => {
    execFile(KUBECTL, args, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

async function manifest(name: string, content: object): Promise<string> {
  const path = join(server.dir, name);
  await writeFile(path, stringify(content));
  return path;
}

describe('real kubectl', () => {
  it('finds files that only their owner can read', async () => {
    for (const file of ['kubeconfig', 'ca.key', 'apiserver.key']) {
      expect((await stat(join(server.dir, file))).mode & 0o777).toBe(0o600);
    }
  });

  it('walks through the life of a Deployment', async () => {
    const file = await manifest('web.yaml', aDeployment('web'));
    const steps: readonly [string[], RegExp][] = [
      [['create', '-f', file], /^deployment\.apps\/web created$/m],
      [['get', 'deploy', 'web', '-o', 'wide'], /web\s+0\/3\s+0\s+0\s+\S+\s+nginx\s+nginx:1\.9\s+app=web/],
      [['describe', 'deployment', 'web'], /StrategyType:\s+RollingUpdate/],
      [['set', 'image', 'deploy/web', 'nginx=nginx:1.9.1'], /^deployment\.apps\/web image updated$/m],
      [['set', 'env', 'deploy/web', 'A=b'], /^deployment\.apps\/web env updated$/m],
      [['scale', 'deploy/web', '--replicas=5'], /^deployment\.apps\/web scaled$/m],
      [['get', 'deploy', 'web', '-o', 'jsonpath={.spec.replicas}'], /^5$/],
      [['rollout', 'pause', 'deploy/web'], /^deployment\.apps\/web paused$/m],
      [['rollout', 'resume', 'deploy/web'], /^deployment\.apps\/web resumed$/m],
      [['rollout', 'restart', 'deploy/web'], /^deployment\.apps\/web restarted$/m],
      [['rollout', 'history', 'deploy/web'], /^deployment\.apps\/web/m],
      [['label', 'deploy', 'web', 'tier=front'], /^deployment\.apps\/web labeled$/m],
      [['annotate', 'deploy', 'web', 'a=b'], /^deployment\.apps\/web annotated$/m],
      [['patch', 'deploy', 'web', '-p', '{"spec":{"minReadySeconds":1}}'], /patched$/m],
      [['patch', 'deploy', 'web', '--type=merge', '-p', '{"spec":{"revisionHistoryLimit":3}}'], /patched$/m],
      [
        [
          'patch',
          'deploy',
          'web',
          '--type=json',
          '-p',
          '[{"op":"replace","path":"/spec/replicas","value":2}]',
        ],
        /patched$/m,
      ],
      [['apply', '-f', file], /^deployment\.apps\/web configured$/m],
      [['apply', '-f', file], /^deployment\.apps\/web unchanged$/m],
      [['apply', '-f', file, '--dry-run=server'], /^deployment\.apps\/web unchanged \(server dry run\)$/m],
      [['replace', '-f', file], /^deployment\.apps\/web replaced$/m],
      [['delete', 'deployment', 'web'], /^deployment\.apps "web" deleted$/m],
    ];
    for (const [args, output] of steps) {
      const { code, stdout, stderr } = await kubectl(...args);
      expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
      expect(stdout).toMatch(output);
    }
  });

  it('creates by commands that speak protobuf', async () => {
    const created = [
      ['create', 'namespace', 'demo'],
      ['create', 'deployment', 'quick', '--image=nginx', '--replicas=2', '--port=80'],
      ['create', 'serviceaccount', 'robot'],
      ['run', 'single', '--image=nginx'],
    ];
    for (const args of created) expect(await kubectl(...args)).toMatchObject({ code: 0, stderr: '' });
    const { body } = await server.call('GET', '/apis/apps/v1/namespaces/default/deployments/quick');
    expect(body.spec).toMatchObject({ replicas: 2, selector: { matchLabels: { app: 'quick' } } });
    expect(body.spec.template.spec.containers).toMatchObject([
      { name: 'nginx', image: 'nginx', ports: [{ containerPort: 80, protocol: 'TCP' }] },
    ]);
  });

  it('finds its way around', async () => {
    expect((await kubectl('version')).stdout).toMatch(/Server Version: .*v1\.36\.2/);
    expect((await kubectl('cluster-info')).stdout).toMatch(/Kubernetes control plane.* is running at/);
    expect((await kubectl('api-resources', '-o', 'name')).stdout).toMatch(/^deployments\.apps$/m);
    expect((await kubectl('auth', 'can-i', 'create', 'deployments')).stdout).toBe('yes\n');
    expect((await kubectl('auth', 'can-i', '--list')).stdout).toMatch(/^\*\.\*\s+\[\]\s+\[\]\s+\[\*\]$/m);
    const explained = await kubectl('explain', 'deployment.spec.strategy');
    expect(explained.stdout).toMatch(/KIND:\s+Deployment[\s\S]*rollingUpdate/);
  });

  it('is told who it is, and whether a token is right', async () => {
    // kubectl has this since 1.26.
    const who = await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
    if (!/unknown (command|shorthand)/.test(who.stderr))
      expect(who).toMatchObject({ stdout: 'admin', stderr: '' });
    const file = await manifest('review.yaml', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: TOKEN },
    });
    // kubectl asks whether a type that cannot be patched is a CustomResourceDefinition's.
    const create = ['create', '-f', file, '--validate=false', '-o', 'jsonpath={.status.user.username}'];
    expect(await kubectl(...create)).toMatchObject({
      stdout: 'admin',
      stderr: '',
    });
  });

  it('shows what apply would change', async () => {
    const file = await manifest('diffed.yaml', aDeployment('diffed'));
    await kubectl('apply', '-f', file);
    const changed = await manifest('diffed-2.yaml', aDeployment('diffed', { replicas: 8 }));
    const { code, stdout } = await kubectl('diff', '-f', changed);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^-\s+replicas: 3$/m);
    expect(stdout).toMatch(/^\+\s+replicas: 8$/m);
    expect((await kubectl('get', 'deploy', 'diffed', '-o', 'jsonpath={.spec.replicas}')).stdout).toBe('3');
  });

  it.each([
    [['get', 'deploy', 'nope'], 'Error from server (NotFound): deployments.apps "nope" not found'],
    [['delete', 'namespace', 'default'], 'Error from server (Forbidden): namespaces "default" is forbidden'],
    [['get', 'widgets'], 'error: the server doesn\'t have a resource type "widgets"'],
  ])('hears of errors: %j', async (args, words) => {
    const { code, stderr } = await kubectl(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });

  it('has unknown fields refused', async () => {
    const file = await manifest('unknown.yaml', aDeployment('unknown', { foo: 1 }));
    const { code, stderr } = await kubectl('create', '-f', file);
    expect(code).toBe(1);
    // Old ones find it themselves, in our OpenAPI document.
    expect(stderr).toMatch(
      /strict decoding error: unknown field "spec\.foo"|ValidationError\(Deployment\.spec\): unknown field "foo"/,
    );
  });

  it('deletes by cascade, in the background as in the foreground, and lets orphans be', async () => {
    for (const cascade of ['background', 'foreground', 'orphan']) {
      await kubectl('create', 'deployment', cascade, '--image=nginx');
      const { code } = await kubectl('delete', 'deployment', cascade, `--cascade=${cascade}`, '--wait=false');
      expect(code).toBe(0);
      const { status, body } = await server.call(
        'GET',
        `/apis/apps/v1/namespaces/default/deployments/${cascade}`,
      );
      if (cascade === 'background') expect(status).toBe(404);
      else expect(body.metadata.finalizers).toEqual([cascade === 'orphan' ? 'orphan' : 'foregroundDeletion']);
    }
  });
});
