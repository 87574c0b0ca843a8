import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject, Pod } from '../../src/base/kubernetes/index.js';
import type { TestCluster } from '../../src/test-cluster/index.js';
import { startTestCluster } from '../../src/test-cluster/index.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 45_000 };

interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [field: string]: any;
}

const deployment = (spec: object = {}, template: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    ...spec,
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'web', image: 'nginx:1.27', ports: [{ name: 'http', containerPort: 8080 }] }],
        ...template,
      },
    },
  },
});

const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec },
});

/** Two nodes and the controllers of a cluster of one's own, on memory. */
function clusterOf(...manifests: object[]): Promise<TestCluster> {
  return startTestCluster({ nodes: 3, manifests: manifests as never, clock: 'manual' });
}

describe('a namespace', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await clusterOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  });
  afterAll(() => cluster.stop());

  it('has an account and the authority of the API server from its first moment', async () => {
    await cluster.settled(PATIENT);
    for (const namespace of ['default', 'kube-system', 'team']) {
      expect(await cluster.get(`${namespace}/serviceaccount/default`)).toBeDefined();
      const root = await cluster.get<Loose>(`${namespace}/configmap/kube-root-ca.crt`);
      expect(cluster.kubeconfig.text).toContain(Buffer.from(String(root?.data['ca.crt'])).toString('base64'));
    }
  });

  it('has them again when somebody deletes them, or writes something else there', async () => {
    await cluster.delete('team/serviceaccount/default');
    await cluster.patch('team/configmap/kube-root-ca.crt', { data: { 'ca.crt': 'nonsense' } });
    await cluster.settled(PATIENT);
    expect(await cluster.get('team/serviceaccount/default')).toBeDefined();
    const root = await cluster.get<Loose>('team/configmap/kube-root-ca.crt');
    expect(root?.data['ca.crt']).toContain('BEGIN CERTIFICATE');
  });

  it('goes with all that', async () => {
    await cluster.delete('namespace/team');
    await cluster.waitFor('namespace/team', 'delete', PATIENT);
    expect(await cluster.list('serviceaccounts', { namespace: 'team' })).toEqual([]);
  });
});

describe('a Service', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await clusterOf(
      deployment(),
      service('web'),
      service('all', { publishNotReadyAddresses: true }),
    );
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const slicesOf = (name: string) =>
    cluster.list<Loose>('endpointslices', { labelSelector: `kubernetes.io/service-name=${name}` });
  const addressesOf = async (name: string) => {
    const subsets = (await cluster.get<Loose>(`endpoints/${name}`))?.subsets ?? [];
    return subsets.flatMap(({ addresses = [] }: Loose) => addresses.map(({ ip }: Loose) => ip)).sort();
  };
  const ipsOfPods = async () => {
    const pods = await cluster.list<Pod>('pods', { labelSelector: 'app=web' });
    return pods.map(({ status }) => status?.podIP).sort();
  };

  it('has the addresses of the ready pods that it selects, by the port that they name', async () => {
    expect(await addressesOf('web')).toEqual(await ipsOfPods());
    const [slice, ...others] = await slicesOf('web');
    expect(others).toEqual([]);
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      metadata: {
        labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
        ownerReferences: [{ kind: 'Service', name: 'web', controller: true }],
      },
    });
    expect(slice?.endpoints.flatMap(({ addresses }: Loose) => addresses).sort()).toEqual(await ipsOfPods());
    expect(slice?.endpoints[0].conditions).toEqual({ ready: true, serving: true, terminating: false });
  });

  it('follows a rollout to its end', async () => {
    const before = await ipsOfPods();
    await cluster.apply(deployment({}, { terminationGracePeriodSeconds: 5 }));
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    await cluster.settled(PATIENT);
    expect(await addressesOf('web')).toEqual(await ipsOfPods());
    expect(await ipsOfPods()).not.toEqual(before);
    const [slice] = await slicesOf('web');
    expect(slice?.endpoints).toHaveLength(3);
  });

  it('says of pods that are not ready that they are not, unless it publishes them all the same', async () => {
    await cluster.apply(service('broken', { selector: { app: 'broken' }, clusterIP: 'None' }));
    await cluster.apply(
      service('anyhow', { selector: { app: 'broken' }, clusterIP: 'None', publishNotReadyAddresses: true }),
    );
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'broken',
        labels: { app: 'broken' },
        annotations: { 'node.rollkeeper.dev/behaviour': 'never-ready' },
      },
      spec: { containers: [{ name: 'c', image: 'nginx', ports: [{ name: 'http', containerPort: 1 }] }] },
    });
    await cluster.settled(PATIENT);
    const ip = (await cluster.get<Pod>('pod/broken'))?.status?.podIP;
    expect((await cluster.get<Loose>('endpoints/broken'))?.subsets[0]).toMatchObject({
      notReadyAddresses: [{ ip, targetRef: { kind: 'Pod', name: 'broken' } }],
    });
    expect((await slicesOf('broken'))[0]?.endpoints[0].conditions.ready).toBe(false);
    expect(await addressesOf('anyhow')).toEqual([ip]);
    expect((await slicesOf('anyhow'))[0]).toMatchObject({
      endpoints: [{ conditions: { ready: true, serving: false } }],
      metadata: { labels: { 'service.kubernetes.io/headless': '' } },
    });
  });

  it('keeps one empty slice without pods, and takes all of them with it', async () => {
    await cluster.patch('deployment/web', { spec: { replicas: 0 } });
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    await cluster.settled(PATIENT);
    expect((await slicesOf('web')).map(({ endpoints = [] }) => endpoints)).toEqual([[]]);
    await cluster.delete('service/web');
    await cluster.settled(PATIENT);
    expect(await cluster.get('endpoints/web')).toBeUndefined();
    expect(await slicesOf('web')).toEqual([]);
  });
});
