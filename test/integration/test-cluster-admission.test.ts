import { afterAll, beforeAll, expect, it } from 'vitest';
import type {
  DeepReadonly,
  Deployment,
  Pod,
  UnstructuredObject,
} from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };

const MANIFESTS = `
apiVersion: v1
kind: ResourceQuota
metadata: { name: two-pods, namespace: default }
spec: { hard: { pods: '2', requests.cpu: '1' } }
---
apiVersion: v1
kind: LimitRange
metadata: { name: usual, namespace: default }
spec: { limits: [{ type: Container, defaultRequest: { cpu: 100m }, default: { cpu: 200m } }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx:1.27 }] }
`;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ manifests: MANIFESTS });
});
afterAll(() => cluster.stop());

it('A Deployment gets as many pods as its quota allows, with what its namespace says of them', async () => {
  const isRefused = (deployment: DeepReadonly<Deployment> | undefined): boolean =>
    deployment?.status?.conditions?.some(
      ({ message = '', type }) => type === 'ReplicaFailure' && message.includes('exceeded quota: two-pods'),
    ) ?? false;
  await cluster.waitFor<Deployment>('deployment/web', isRefused, PATIENT);
  const pods = await cluster.list<Pod>('pods', { labelSelector: 'app=web' });
  expect(pods).toHaveLength(2);
  for (const { spec } of pods) {
    expect(spec).toMatchObject({ serviceAccountName: 'default', priority: 0 });
    expect(spec.volumes?.[0]?.name).toMatch(/^kube-api-access-/);
    expect(spec.containers[0]?.resources).toEqual({ requests: { cpu: '100m' }, limits: { cpu: '200m' } });
  }
  const quota = await cluster.get<UnstructuredObject>('resourcequota/two-pods');
  expect(quota?.status).toEqual({
    hard: { pods: '2', 'requests.cpu': '1' },
    used: { pods: '2', 'requests.cpu': '200m' },
  });
});
