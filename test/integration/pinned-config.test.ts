import { describe, expect, it } from 'vitest';
import { createDeploymentController } from '../../src/controllers/deployment/index.js';
import type { KubernetesObject, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { isPodReady, isTerminating } from '../../src/machinery/kubernetes/index.js';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const CONTROLLERS = ['replicaset', 'garbage-collector', 'namespace', 'serviceaccount'];

interface WithData extends KubernetesObject {
  readonly data?: Record<string, string>;
}

const settings = (colour: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { colour },
});

const secretIn = (namespace: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'key', namespace },
  stringData: { key: 'one' },
});

const web: ManifestObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', annotations: { 'rollkeeper.dev/config': 'pinned' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'web:1',
            envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'key' } }],
          },
        ],
      },
    },
  },
};

function start(manifests: readonly ManifestObject[], pinConfig = true): Promise<TestCluster> {
  const controllers = [...CONTROLLERS, createDeploymentController({ pinConfig, restartOnConfig: true })];
  return startTestCluster({ controllers, nodes: 1, manifests });
}

/** The content that each ready pod reads, sorted. */
async function colours(cluster: TestCluster): Promise<string[]> {
  const pods = (await cluster.list<Pod>('pods')).filter((pod) => isPodReady(pod) && !isTerminating(pod));
  const configMaps = await cluster.list<WithData>('configmaps');
  return pods
    .map(({ spec }) => {
      const name = spec.containers[0]?.envFrom?.[0]?.configMapRef?.name;
      return configMaps.find(({ metadata }) => metadata.name === name)?.data?.['colour'] ?? 'none';
    })
    .toSorted();
}

async function until(cluster: TestCluster, ...wanted: string[]): Promise<void> {
  await expect.poll(() => colours(cluster), { timeout: 60_000 }).toEqual(wanted);
}

describe('a configuration that belongs to its version', () => {
  it('is what pods read after a change and after an undo, and goes with the Deployment', async () => {
    await using cluster = await start([settings('red'), secretIn('default'), web]);
    await until(cluster, 'red', 'red');
    const names = (await cluster.list('configmaps')).map(({ metadata }) => metadata.name);
    expect(names.filter((name) => /^settings-[0-9a-f]{10}$/.test(name))).toHaveLength(1);
    const [set] = await cluster.list<ReplicaSet>('replicasets');
    await cluster.apply([settings('blue')]);
    await until(cluster, 'blue', 'blue');
    const template = set?.spec.template;
    if (!template) throw new Error('The Deployment has no ReplicaSet with a template.');
    const { 'pod-template-hash': _hash, ...labels } = { ...template.metadata?.labels };
    const metadata = { ...template.metadata, labels };
    await cluster.patch('deployment/web', { spec: { template: { ...template, metadata } } });
    await until(cluster, 'red', 'red');
    await cluster.delete('deployment/web');
    await expect
      .poll(async () => (await cluster.list('secrets')).map(({ metadata: { name } }) => name), {
        timeout: 60_000,
      })
      .toEqual(['key']);
  });

  it('is never that of another namespace, and is waited for', async () => {
    const other: ManifestObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } };
    await using cluster = await start([other, secretIn('other'), settings('red'), web]);
    const waits = await cluster.waitFor<
      { status?: { conditions?: { reason: string; message: string }[] } } & KubernetesObject
    >(
      'deployment/web',
      (each) => each?.status?.conditions?.some(({ reason }) => reason === 'WaitingForConfiguration') === true,
    );
    const [condition] =
      waits?.status?.conditions?.filter(({ reason }) => reason === 'WaitingForConfiguration') ?? [];
    expect(condition?.message).toContain('pods need secret/key, which does not exist');
    expect(await cluster.list('replicasets')).toEqual([]);
  });
});
