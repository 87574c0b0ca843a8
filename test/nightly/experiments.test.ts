import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ReplicaSet, Service } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { run } from '../e2e/support/up.js';
import { PolicyUp } from './support/policy-up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const POLICY = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: own-accounts }
spec:
  matchConstraints:
    resourceRules:
      - { apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [replicasets] }
  validations:
    - expression: >-
        !request.userInfo.username.startsWith('system:serviceaccount:shop:') ||
        !has(object.spec.template.spec.serviceAccountName) ||
        object.spec.template.spec.serviceAccountName != 'vault'
      message: tenants may not use the service account vault
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: own-accounts }
spec: { policyName: own-accounts, validationActions: [Deny] }
`;

interface Template {
  readonly name: string;
  readonly [field: string]: unknown;
}

interface Report {
  readonly experiment: string;
  readonly phase: string;
  readonly why?: string;
  readonly templates: readonly { readonly template: string; readonly available: number }[];
  readonly checks: readonly { readonly check: string; readonly verdict: string; readonly value?: number }[];
}

/** Two templates of the Deployment `web`, and one of the file's own. */
const THREE: readonly Template[] = [
  { name: 'old', deployment: 'web', revision: 1, replicas: 2 },
  { name: 'new', deployment: 'web', version: 'canary', replicas: 1, service: { ports: [{ port: 80 }] } },
  {
    name: 'own',
    replicas: 1,
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:own' }] },
    },
  },
];

describe.skipIf(!anyKubectl())('experiments outside of rollouts, with kubectl', () => {
  let lab: PolicyUp;
  let folder: string;
  let prometheus: Server;
  let value = '0';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-experiments-'));
    prometheus = createServer((_request, response) => {
      const result = [{ metric: {}, value: [1, value] }];
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
    await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
    lab = await PolicyUp.start();
    await lab.kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=2');
    await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
    await lab.kubectl('set', 'image', 'deployment/web', 'web=web:2');
    await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
  });

  afterAll(async () => {
    await lab.stop();
    prometheus.closeAllConnections();
    await new Promise((resolve) => prometheus.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  const check = () => ({
    name: 'errors',
    of: 'own',
    against: 'old',
    check: {
      prometheus: {
        address: `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`,
        query: 'errors{hash="{{hash}}"}',
        condition: '< 1',
      },
      ...{ interval: '1s', count: 3 },
    },
  });

  function fileOf(content: Readonly<Record<string, unknown>>): string {
    const file = join(folder, `${String(content['name'])}.yaml`);
    writeFileSync(file, stringify({ templates: THREE, ...content }));
    return file;
  }

  /** Undefined: there is none yet. */
  const reportOf = async (name: string): Promise<Report | undefined> => {
    const { stdout } = await lab.rollkeeper('experiment', 'status', name, '-o', 'json');
    return stdout === '' ? undefined : (JSON.parse(stdout) as Report);
  };
  const becomes = (name: string, phase: string) =>
    waitFor(async () => (await reportOf(name))?.phase === phase, {
      what: `experiment ${name} to be ${phase}`,
      timeoutMs: 90_000,
    });
  const podsOf = async (label: string) => {
    const { stdout } = await lab.kubectl('get', 'pods', '-l', label, '-o', 'name');
    return stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '');
  };
  const areRemoved = (name: string) =>
    waitFor(
      async () => {
        const sets = (await lab.replicaSets()).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
        const services = await lab.client.list<Service>(Service, { namespace: 'default' });
        const left = services.items.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
        return sets.every(({ spec }) => spec.replicas === 0) && left.length === 0;
      },
      { what: `the pods and Services of ${name} to be removed`, timeoutMs: 60_000 },
    );

  it('run three templates beside the Deployment, with a Service of one of them, and pass', async () => {
    const file = fileOf({ name: 'three', duration: '10s', checks: [check()] });
    const running = lab.rollkeeper('experiment', 'run', '-f', file);
    await becomes('three', 'running');
    expect(await podsOf('app=web'), 'the Deployment has its own pods alone').toHaveLength(2);
    expect((await lab.deployment()).status?.replicas).toBe(2);
    expect(await podsOf('rollkeeper.dev/experiment-side=old')).toHaveLength(2);
    const services = await lab.client.list<Service>(Service, { namespace: 'default' });
    expect(services.items.filter(({ metadata }) => metadata.name.startsWith('three-'))).toHaveLength(1);
    const { code, stdout } = await running;
    expect(stdout).toContain('passed after 10s');
    expect(code).toBe(0);
    await areRemoved('three');
    expect((await reportOf('three'))?.checks).toMatchObject([
      { check: 'errors', verdict: 'passed', value: 0 },
    ]);
    const listed = await lab.rollkeeper('experiment', 'list');
    expect(listed.stdout).toMatch(/three-\S+ +passed .*errors passed \(0\)/);
    const history = await lab.rollkeeper('rollout', 'history', 'deployment/web');
    expect(history.stdout).toMatch(
      /three-\S+ +1, 2 .*passed +10s .*old 2, new 1, own 1 .*errors passed \(0\)/,
    );
  });

  it('end as failed with the exit code 3 when a check fails, and are removed', async () => {
    const file = fileOf({ name: 'failing', duration: '10m', checks: [check()] });
    value = '5';
    const { code, stdout } = await lab.rollkeeper('experiment', 'run', '-f', file);
    value = '0';
    expect(stdout).toContain('failed');
    expect(stdout).toContain('check errors failed: 5 is not < 1');
    expect(code).toBe(3);
    await areRemoved('failing');
  });

  it('end in time though the command line and the leader die in the middle', async () => {
    const file = fileOf({ name: 'orphan', duration: '20s', checks: [check()] });
    const args = [MAIN, 'experiment', 'run', '-f', file, '--kubeconfig', lab.up.kubeconfig];
    const command: ChildProcess = spawn(process.execPath, args, { stdio: 'ignore' });
    await becomes('orphan', 'running');
    command.kill('SIGKILL');
    await lab.killLeader();
    await becomes('orphan', 'passed');
    await areRemoved('orphan');
  });

  it('are stopped by a request, though the leader dies at that moment, and say by whom', async () => {
    const file = fileOf({ name: 'stopped', duration: '10m' });
    const begun = await lab.rollkeeper('experiment', 'run', '--detach', '-f', file);
    expect(begun.stdout).toMatch(/^experiment default\/stopped-\S+ has begun\n$/);
    await becomes('stopped', 'running');
    await lab.rollkeeper('experiment', 'stop', 'stopped', '--by', 'anna');
    await lab.killLeader();
    await becomes('stopped', 'stopped');
    expect(await reportOf('stopped')).toMatchObject({ why: 'stopped, claimed by anna' });
    expect((await lab.rollkeeper('experiment', 'status', 'stopped')).code).toBe(4);
    await areRemoved('stopped');
  });

  it('are refused by the field that is wrong, and nothing is made', async () => {
    const before = (await lab.replicaSets()).length;
    const templates = [THREE[0], { name: 'new', deployment: 'web', revision: 77 }];
    const { code, stderr } = await lab.rollkeeper(
      'experiment',
      'run',
      '-f',
      fileOf({ name: 'wrong', duration: '1m', templates }),
    );
    expect(stderr).toContain('templates.1.revision: Deployment web has no revision 77');
    expect(code).toBe(2);
    expect(await lab.replicaSets()).toHaveLength(before);
  });

  describe('begun by a user of one namespace', () => {
    let kubeconfig: string;

    beforeAll(async () => {
      const kubectl = (...args: string[]) => lab.kubectl(...args);
      await kubectl('create', 'namespace', 'shop');
      await kubectl('create', 'serviceaccount', 'dev', '-n', 'shop');
      await kubectl('create', 'serviceaccount', 'vault', '-n', 'shop');
      await kubectl(
        'create',
        'rolebinding',
        'dev',
        '--clusterrole=edit',
        '--serviceaccount=shop:dev',
        '-n',
        'shop',
      );
      await kubectl('create', 'deployment', 'web', '--image=web:1', '-n', 'shop');
      await kubectl('rollout', 'status', 'deployment/web', '-n', 'shop', '--timeout=60s');
      await kubectl('create', 'deployment', 'trusted', '--image=web:1', '-n', 'shop');
      await kubectl('set', 'serviceaccount', 'deployment/trusted', 'vault', '-n', 'shop');
      await kubectl('rollout', 'status', 'deployment/trusted', '-n', 'shop', '--timeout=60s');
      const policy = join(folder, 'policy.yaml');
      writeFileSync(policy, POLICY);
      await kubectl('apply', '-f', policy);
      const token = (await kubectl('create', 'token', 'dev', '-n', 'shop')).stdout.trim();
      const config = parse(readFileSync(lab.up.kubeconfig, 'utf8')) as { users: { user: unknown }[] };
      for (const each of config.users) each.user = { token };
      kubeconfig = join(folder, 'dev');
      writeFileSync(kubeconfig, stringify(config), { mode: 0o600 });
    });

    const asDev = (...args: string[]) =>
      run(process.execPath, [MAIN, 'experiment', ...args, '--kubeconfig', kubeconfig]);
    const templatesOf = (deployment: string): readonly Template[] => [
      { name: 'old', deployment, version: 'baseline', service: { ports: [{ port: 80 }] } },
      { name: 'new', deployment, version: 'canary' },
    ];

    it('run with the rights of that user, in that namespace alone', async () => {
      const file = fileOf({ name: 'tenant', duration: '10s', templates: templatesOf('web') });
      const { code, stdout } = await asDev('run', '-f', file, '-n', 'shop');
      expect(stdout).toContain('passed');
      expect(code).toBe(0);
      const elsewhere = await asDev('run', '-f', file, '-n', 'default');
      expect(elsewhere.stderr).toContain('forbidden');
      expect(elsewhere.code).toBe(1);
      expect((await asDev('list', '-A')).stderr).toContain('forbidden');
    });

    it('get no pods with a service account that the user may not use, and leave nothing behind', async () => {
      const file = fileOf({ name: 'sneaky', duration: '10s', templates: templatesOf('trusted') });
      const { code, stderr } = await asDev('run', '-f', file, '-n', 'shop');
      expect(stderr).toContain('tenants may not use the service account vault');
      expect(code).toBe(1);
      const { items } = await lab.client.list<ReplicaSet>(ReplicaSet, { namespace: 'shop' });
      expect(items.filter(({ metadata }) => metadata.name.startsWith('sneaky-'))).toEqual([]);
    });

    it('cannot be given a verdict by the user', async () => {
      const file = fileOf({ name: 'forged', duration: '10m', templates: templatesOf('web') });
      const { stdout } = await asDev('run', '--detach', '-f', file, '-n', 'shop');
      const name = /shop\/(\S+)/.exec(stdout)?.[1] ?? '';
      const state = JSON.stringify({ ended: '2026-01-01T00:00:00Z', verdict: 'passed' });
      await run(
        anyKubectl()?.binary ?? '',
        ['annotate', 'rs', name, '-n', 'shop', '--overwrite', `rollkeeper.dev/experiment-state=${state}`],
        {
          env: { ...process.env, KUBECONFIG: kubeconfig },
        },
      );
      const report = JSON.parse((await asDev('status', name, '-n', 'shop', '-o', 'json')).stdout) as Report;
      expect(['starting', 'running']).toContain(report.phase);
      await asDev('stop', name, '-n', 'shop');
    });
  });
});
