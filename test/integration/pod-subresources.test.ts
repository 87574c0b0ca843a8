import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeepReadonly, Pod } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const run = promisify(execFile);
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const PATIENT = { timeoutMs: 120_000 };

const podRequesting = (name: string, cpu: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'nginx:1.27', resources: { requests: { cpu } }, ...fields }] },
});

/** May read and resize the pods of one namespace. */
const RIGHTS = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'resizer', namespace: 'default' },
    rules: [{ apiGroups: [''], resources: ['pods', 'pods/resize'], verbs: ['get', 'patch'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'resizer', namespace: 'default' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'resizer' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'dev' }],
  },
];

let cluster: TestCluster;
const kubectl = async (...args: string[]): Promise<string> => {
  const env = { ...process.env, ...cluster.env };
  const { stdout, stderr } = await run(KUBECTL, args, { env }).catch((error: unknown) => error as Output);
  return stdout + stderr;
};
interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

beforeAll(async () => {
  cluster = await startTestCluster({
    nodes: { nodes: 1, cpus: 4 },
    users: ['dev'],
    manifests: [podRequesting('small', '100m'), podRequesting('large', '3'), ...RIGHTS],
  });
  for (const name of ['small', 'large']) await cluster.waitFor(`pod/${name}`, 'condition=Ready', PATIENT);
});
afterAll(() => cluster.stop());

const resize = (name: string, cpu: string): Promise<string> => {
  const patch = JSON.stringify({
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] },
  });
  return kubectl('patch', 'pod', name, '--subresource', 'resize', '-p', patch);
};
const cpuOf = (pod: DeepReadonly<Pod> | undefined) =>
  pod?.status?.containerStatuses?.[0]?.resources?.requests?.['cpu'];
const pendingOf = (pod: DeepReadonly<Pod> | undefined) =>
  pod?.status?.conditions?.find(({ type }) => type === 'PodResizePending');

describe('a pod whose resources are changed with kubectl', () => {
  it('gets them in place', async () => {
    expect(await resize('small', '200m')).toContain('pod/small patched');
    const pod = await cluster.waitFor<Pod>('pod/small', (one) => cpuOf(one) === '200m', PATIENT);
    expect(pod?.metadata.generation).toBe(2);
    expect(pod?.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 0,
      ready: true,
      allocatedResources: { cpu: '200m' },
    });
  });

  it('waits for room until another pod leaves', async () => {
    await resize('small', '2');
    const waiting = await cluster.waitFor<Pod>('pod/small', (one) => !!pendingOf(one), PATIENT);
    expect(pendingOf(waiting)).toMatchObject({ reason: 'Deferred', observedGeneration: 3 });
    await cluster.delete('pod/large', { gracePeriodSeconds: 0 });
    const pod = await cluster.waitFor<Pod>('pod/small', (one) => cpuOf(one) === '2', PATIENT);
    expect(pendingOf(pod)).toBeUndefined();
  });

  it('is refused what its node never has', async () => {
    expect(await resize('small', '9')).toContain(
      `pods "small" is forbidden: Node didn't have enough allocatable resources: cpu, requested: 9000, allocatable: 4000`,
    );
  });

  it('may be changed by a user of that namespace who may, and only in this way', async () => {
    const dev = await cluster.user('dev');
    const kubeconfig = ['--kubeconfig', dev.kubeconfig.path];
    expect(
      await kubectl(...kubeconfig, 'get', '--raw', '/api/v1/namespaces/default/pods/small/resize'),
    ).toContain('"name":"small"');
    expect(
      await kubectl(...kubeconfig, 'get', '--raw', '/api/v1/namespaces/kube-system/pods/x/resize'),
    ).toContain('Forbidden');
    const body = { spec: { ephemeralContainers: [{ name: 'd', image: 'busybox' }] } };
    const path = { namespace: 'default', name: 'small' };
    const type = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
    await expect(
      dev.client.patch(type, path, { type: 'merge', body }, { subresource: 'ephemeralcontainers' }),
    ).rejects.toThrow(/cannot patch resource "pods\/ephemeralcontainers"/);
  });
});

describe('kubectl debug', () => {
  it('adds a container that runs beside the others', async () => {
    const told = await kubectl('debug', 'small', '--image=busybox', '-c', 'dbg', '--target=main');
    expect(told).toContain('Targeting container "main"');
    const pod = await cluster.waitFor<Pod>(
      'pod/small',
      (one) => one?.status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined,
      PATIENT,
    );
    expect(pod?.status?.ephemeralContainerStatuses?.[0]).toMatchObject({ name: 'dbg', restartCount: 0 });
    expect(pod?.status?.phase).toBe('Running');
  });
});
