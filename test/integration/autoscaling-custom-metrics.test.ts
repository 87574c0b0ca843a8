import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { Loose } from './support/managed-cluster.js';
import { web } from './support/managed-cluster.js';
import { startApiServer } from './api-server-harness.js';

const METRIC = 'node.rollkeeper.dev/metric-';
const autoscaler = (name: string, metrics: readonly object[]): ManifestObject => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name, namespace: 'default' },
  spec: {
    ...{ minReplicas: 1, maxReplicas: 9, metrics },
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  },
});

describe('an autoscaler by metrics that are no resources', () => {
  let cluster: TestCluster;
  const start = async (metrics: readonly object[]): Promise<void> => {
    const deployment = web({ api: 'apps/v1', spec: { replicas: 2 }, pod: {} });
    const spec = deployment['spec'] as Loose;
    spec['template'].metadata.annotations = { [`${METRIC}qps`]: '30' };
    cluster = await startTestCluster({
      ...{ nodes: 1, clock: 'manual' },
      controllers: 'deployment,replicaset,horizontal-pod-autoscaler',
      manifests: [
        deployment,
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'web', namespace: 'default', annotations: { [`${METRIC}hits`]: '400' } },
          spec: { ports: [{ port: 80 }] },
        },
        autoscaler('web', metrics),
      ],
    });
    await cluster.patch('namespace/default', {
      metadata: {
        annotations: { 'node.rollkeeper.dev/external-metric-depth': '30{queue=mail}; 7{queue=sms}' },
      },
    });
    await cluster.settled();
    await cluster.clock.advance(30_000);
    await cluster.settled();
  };
  const sizeOf = async () => (await cluster.get<Loose>('deployment/web'))?.spec.replicas;
  afterAll(() => cluster.stop());

  it('follows the greatest of what pods, an object and a queue outside ask for', async () => {
    await start([
      {
        type: 'Pods',
        pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '30' } },
      },
      {
        type: 'Object',
        object: {
          metric: { name: 'hits' },
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 'web' },
          target: { type: 'AverageValue', averageValue: '100' },
        },
      },
      {
        type: 'External',
        external: {
          metric: { name: 'depth', selector: { matchLabels: { queue: 'mail' } } },
          target: { type: 'AverageValue', averageValue: '10' },
        },
      },
    ]);
    expect(await sizeOf()).toBe(4);
    const scaler = await cluster.get<Loose>('horizontalpodautoscaler/web');
    expect(scaler?.status.currentMetrics.map(({ type }: { type: string }) => type)).toEqual([
      'Pods',
      'Object',
      'External',
    ]);
  });

  it('says which metric it does not get, and goes on with the others', async () => {
    await cluster.apply(
      autoscaler('web', [
        {
          type: 'Pods',
          pods: { metric: { name: 'none' }, target: { type: 'AverageValue', averageValue: '1' } },
        },
        {
          type: 'External',
          external: { metric: { name: 'depth' }, target: { type: 'AverageValue', averageValue: '5' } },
        },
      ]),
    );
    await cluster.clock.advance(45_000);
    await cluster.settled();
    expect(await sizeOf()).toBe(8);
    const events = await cluster.list<Loose>('events');
    expect(events.map(({ message }) => message)).toContain(
      'unable to get metric none: no metrics returned from custom metrics API',
    );
  });
});

describe('the APIs of custom and external metrics', () => {
  let api: Awaited<ReturnType<typeof startApiServer>>;
  beforeAll(async () => {
    api = await startApiServer({ users: [{ token: 'of-team', username: 'team-user' }] });
    const made = async (path: string, object: object): Promise<void> => {
      expect((await api.call('POST', path, object)).status).toBe(201);
    };
    await made('/api/v1/namespaces', {
      metadata: { name: 'team', annotations: { 'node.rollkeeper.dev/external-metric-depth': '1' } },
    });
    const role = {
      apiGroups: ['custom.metrics.k8s.io', 'external.metrics.k8s.io'],
      resources: ['*'],
      verbs: ['*'],
    };
    const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/team';
    await made(`${RBAC}/roles`, { metadata: { name: 'metrics' }, rules: [role] });
    await made(`${RBAC}/rolebindings`, {
      metadata: { name: 'metrics' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'metrics' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'team-user' }],
    });
  });
  afterAll(() => api.stop());

  const CUSTOM = '/apis/custom.metrics.k8s.io/v1beta2';
  const EXTERNAL = '/apis/external.metrics.k8s.io/v1beta1';

  it.each([
    { path: `${EXTERNAL}/namespaces/team/depth`, code: 200 },
    { path: `${EXTERNAL}/namespaces/default/depth`, code: 403 },
    { path: `${CUSTOM}/namespaces/team/pods/*/qps`, code: 200 },
    { path: `${CUSTOM}/namespaces/default/pods/*/qps`, code: 403 },
    { path: `${CUSTOM}/pods/*/qps`, code: 403 },
    { path: `${CUSTOM}/nodes/node-0/load`, code: 403 },
    { path: `${CUSTOM}/namespaces/default/metrics/load`, code: 403 },
    { path: `${CUSTOM}/namespaces/team/metrics/load`, code: 404 },
  ])('answer a user of one namespace at $path with $code', async ({ code, path }) => {
    const { status } = await api.call('GET', path, undefined, { authorization: 'Bearer of-team' });
    expect(status).toBe(code);
  });

  it('are read-only', async () => {
    const { status } = await api.call('DELETE', `${CUSTOM}/namespaces/team/pods/*/qps`);
    expect(status).toBe(405);
  });
});
