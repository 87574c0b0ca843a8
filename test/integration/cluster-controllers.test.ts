import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { TokenReview, untyped, Pod } from '../../src/machinery/kubernetes/index.js';
import { apiStatusOf } from '../../src/client/api-client/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const BEHAVIOUR = 'node.rollkeeper.dev/behaviour';
/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror';

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

const decoded = (text = ''): string => Buffer.from(text, 'base64').toString();

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

  it('fills a Secret that asks for an account’s token, which is good until the account goes, and the Secret with it', async () => {
    const review = async (token: string) => {
      const body = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: { name: '' },
        spec: { token },
      };
      return (await cluster.client.create<Loose>(untyped(TokenReview), body))['status'];
    };
    await cluster.apply([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'team' } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'robot-token',
          namespace: 'team',
          annotations: { 'kubernetes.io/service-account.name': 'robot' },
        },
        type: 'kubernetes.io/service-account-token',
      },
    ]);
    const secret = await cluster.waitFor<Loose>(
      'team/secret/robot-token',
      (object) => object?.['data']?.token !== undefined,
      PATIENT,
    );
    const { 'ca.crt': authority, namespace, token } = secret?.['data'] as Record<string, string>;
    expect(cluster.kubeconfig.text).toContain(authority);
    expect(decoded(namespace)).toBe('team');
    expect(await review(decoded(token))).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:team:robot' },
    });
    await cluster.delete('team/serviceaccount/robot');
    await cluster.waitFor('team/secret/robot-token', 'delete', PATIENT);
    expect(await review(decoded(token))).not.toHaveProperty('authenticated', true);
  });

  it('goes with all that', async () => {
    await cluster.delete('namespace/team');
    await cluster.waitFor('namespace/team', 'delete', PATIENT);
    expect(await cluster.list('serviceaccounts', { namespace: 'team' })).toEqual([]);
  });
});

describe.each([
  ['Secret', 'Opaque'],
  ['Secret', 'kubernetes.io/basic-auth'],
  ['Secret', 'kubernetes.io/service-account-token'],
  ['ConfigMap', undefined],
])('a %s (%s) with an owner', (kind, type) => {
  const NAME = 'owned';
  const path = `${kind.toLowerCase()}/${NAME}`;
  const isTokenOf = { 'kubernetes.io/service-account.name': 'default' };
  const ownedBy = (owner: Loose) => ({
    ...{ apiVersion: 'v1', kind, ...(type && { type }) },
    metadata: {
      ...{ name: NAME, annotations: isTokenOf, finalizers: ['example.com/hold'] },
      ownerReferences: [
        {
          ...{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid },
          blockOwnerDeletion: true,
        },
      ],
    },
    data: { username: 'YQ==', password: 'YQ==' },
  });
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await clusterOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } });
    await cluster.apply(ownedBy((await cluster.get<Loose>('configmap/owner'))!));
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  it('is deleted with its owner, which waits for it in a foreground deletion', async () => {
    await cluster.delete('configmap/owner', { propagationPolicy: 'Foreground' });
    await cluster.waitFor<Loose>(path, (object) => object?.metadata.deletionTimestamp !== undefined, PATIENT);
    expect(await cluster.get('configmap/owner')).toBeDefined();
    await cluster.patch(path, { metadata: { finalizers: null } });
    await cluster.waitFor('configmap/owner', 'delete', PATIENT);
    expect(await cluster.get(path)).toBeUndefined();
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
    expect((await cluster.get<Loose>('endpoints/anyhow'))?.metadata.labels).toEqual({
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      'service.kubernetes.io/headless': '',
    });
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

describe('a disruption budget', () => {
  let cluster: TestCluster;
  const pods = (app: string, count: number, annotations: Record<string, string> = {}) =>
    Array.from({ length: count }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${app}-${index}`, labels: { app }, annotations },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    }));
  const budget = (app: string, spec: object) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app },
    spec: { selector: { matchLabels: { app } }, ...spec },
  });
  beforeAll(async () => {
    cluster = await clusterOf(
      deployment({ replicas: 4 }),
      budget('web', { maxUnavailable: '25%' }),
      ...pods('lone', 6),
      budget('lone', { minAvailable: 4 }),
      ...pods('sick', 2, { 'node.rollkeeper.dev/behaviour': 'never-ready' }),
      budget('sick', { minAvailable: 1 }),
    );
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const statusOf = async (name: string) => (await cluster.get<Loose>(`poddisruptionbudget/${name}`))?.status;
  const evict = (name: string, deleteOptions: object = {}, namespace = 'default') =>
    cluster.client.create(
      untyped(Pod),
      {
        ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
        ...{ deleteOptions },
      },
      { subresource: 'eviction' },
    );
  const answerTo = (eviction: Promise<unknown>) =>
    eviction.then(
      () => 'evicted',
      (error: unknown) => apiStatusOf(error),
    );

  it('counts a percentage of what the Deployment wants, and a number of the pods that there are', async () => {
    expect(await statusOf('web')).toMatchObject({
      expectedPods: 4,
      desiredHealthy: 3,
      currentHealthy: 4,
      disruptionsAllowed: 1,
      observedGeneration: 1,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    });
    expect(await statusOf('lone')).toMatchObject({ expectedPods: 6, disruptionsAllowed: 2 });
  });

  it('lets a dry run see that an eviction would be granted, and grants nothing', async () => {
    await evict('lone-0', { dryRun: ['All'] });
    expect(await statusOf('lone')).toMatchObject({ disruptionsAllowed: 2 });
    expect((await cluster.get('pod/lone-0'))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('refuses another pod than the one that was meant, and takes nothing from the budget', async () => {
    const answer = await answerTo(evict('lone-0', { preconditions: { uid: 'another' } }));
    expect(answer).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(await statusOf('lone')).toMatchObject({ disruptionsAllowed: 2 });
  });

  it('grants as many evictions as it has, however many are asked for at once', async () => {
    const answers = await Promise.all(pods('lone', 6).map(({ metadata }) => answerTo(evict(metadata.name))));
    const refused = answers.filter((answer) => answer !== 'evicted');
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: expect.stringMatching(
              /^The disruption budget lone needs 4 healthy pods and has \d currently$/,
            ),
          },
        ],
      },
    });
    await cluster.settled(PATIENT);
    expect(await cluster.list('pods', { labelSelector: 'app=lone' })).toHaveLength(4);
    expect(await statusOf('lone')).toMatchObject({ currentHealthy: 4, disruptionsAllowed: 0 });
    expect((await statusOf('lone')).disruptedPods).toBeUndefined();
  });

  it('holds pods that are not ready only where nothing else says so', async () => {
    expect(await answerTo(evict('sick-0'))).toMatchObject({ code: 429 });
    await cluster.patch('poddisruptionbudget/sick', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } });
    await cluster.settled(PATIENT);
    expect(await answerTo(evict('sick-0'))).toBe('evicted');
  });

  it('asks a budget with an empty selector about every pod of its namespace', async () => {
    await cluster.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'all' } },
      ...pods('any', 2).map((pod) => ({ ...pod, metadata: { ...pod.metadata, namespace: 'all' } })),
      { ...budget('any', { minAvailable: 2, selector: {} }), metadata: { name: 'any', namespace: 'all' } },
    ]);
    await cluster.settled(PATIENT);
    expect(await answerTo(evict('any-0', {}, 'all'))).toMatchObject({ code: 429 });
  });

  it('does not know which of two budgets counts', async () => {
    await cluster.apply({ ...budget('lone', { minAvailable: 1 }), metadata: { name: 'another' } });
    await cluster.settled(PATIENT);
    const [pod] = await cluster.list('pods', { labelSelector: 'app=lone' });
    expect(await answerTo(evict(pod?.metadata.name ?? ''))).toMatchObject({
      code: 500,
      message: expect.stringContaining('more than one PodDisruptionBudget'),
    });
  });
});

describe('a node that fails in the middle of a rollout', () => {
  let cluster: TestCluster;
  const tolerations = ['not-ready', 'unreachable'].map((name) => ({
    ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
  }));
  const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const web = (annotations: object = {}) => {
    const wanted = deployment({ replicas: 6, minReadySeconds: 10, strategy }, { tolerations });
    Object.assign(wanted.spec.template.metadata, { annotations });
    return wanted;
  };
  beforeAll(async () => {
    cluster = await clusterOf(web());
    await cluster.settled(PATIENT);
    await cluster.clock.advance(10_000);
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
  });
  afterAll(() => cluster.stop());

  const podsOn = async (node: string) =>
    (await cluster.list<Pod>('pods')).filter(({ spec }) => spec.nodeName === node);
  const node = async () => (await cluster.get<Loose>('node/node-1')) as Loose;
  const ready = async () =>
    (await node()).status.conditions.find(({ type }: Loose) => type === 'Ready').status as string;

  it('becomes Unknown with its taints after the grace period, and its pods not ready', async () => {
    await cluster.apply(web({ version: 'two' }));
    await cluster.settled(PATIENT);
    await cluster.patch('node/node-1', { metadata: { annotations: { [BEHAVIOUR]: 'silent' } } });
    await cluster.settled(PATIENT);
    await cluster.clock.advance(40_000);
    expect(await ready()).toBe('True');
    await cluster.clock.advance(25_000);
    expect(await ready()).toBe('Unknown');
    expect((await node()).spec.taints).toMatchObject([
      { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
    ]);
    const states = (await podsOn('node-1')).map(
      ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    );
    expect(states.length).toBeGreaterThan(0);
    expect(states).not.toContain('True');
  });

  it('is named in an Event of each pod that was ready on it, as the genuine node controller does', async () => {
    const pods = (await podsOn('node-1'))
      .filter(({ status }) => status?.containerStatuses?.every(({ ready: was }) => was))
      .map(({ metadata }) => metadata.name);
    const events = (await cluster.list<Loose>('events')).filter(
      ({ involvedObject, reason }) => involvedObject.kind === 'Pod' && reason === 'NodeNotReady',
    );
    expect(new Set(events.map(({ involvedObject }) => involvedObject.name))).toEqual(new Set(pods));
    expect(events[0]).toMatchObject({
      ...{ type: 'Warning', message: 'Node is not ready', source: { component: 'node-controller' } },
    });
  });

  it('loses its pods when they have tolerated it for as long as they do, and the rollout ends well', async () => {
    await cluster.clock.advance(180_000);
    await cluster.settled(PATIENT);
    expect((await podsOn('node-1')).every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(
      true,
    );
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    const { status } = (await cluster.get<Loose>('deployment/web')) as Loose;
    expect(status).toMatchObject({ updatedReplicas: 6, availableReplicas: 6 });
  });

  it('is ready once it comes back, takes pods again, and lets go of those that had to leave', async () => {
    await cluster.patch('node/node-1', { metadata: { annotations: { [BEHAVIOUR]: null } } });
    await cluster.settled(PATIENT);
    await cluster.clock.advance(20_000);
    await cluster.settled(PATIENT);
    expect(await ready()).toBe('True');
    expect((await node()).spec.taints ?? []).toEqual([]);
    expect(await podsOn('node-1')).toEqual([]);
  });

  it('takes its pods with it if it never was', async () => {
    await cluster.apply({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'lost' } },
      spec: { nodeName: 'ghost', containers: [{ name: 'c', image: 'nginx' }] },
    });
    await cluster.settled(PATIENT);
    expect(await cluster.get('pod/lost')).toBeDefined();
    await cluster.clock.advance(45_000);
    await cluster.settled(PATIENT);
    expect(await cluster.get('pod/lost')).toBeUndefined();
  });
});

describe('Endpoints that people maintain', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await clusterOf(
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'db' }, spec: { ports: [{ port: 5432 }] } },
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'db' },
        subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 5432 }] }],
      },
    );
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const mirrors = async (): Promise<unknown[]> => {
    await cluster.settled(PATIENT);
    const slices = await cluster.list<Loose>('endpointslices', {
      labelSelector: 'kubernetes.io/service-name=db',
    });
    return slices.map(({ addressType, endpoints, ports }) => [
      addressType,
      endpoints.map((each: Loose) => each['addresses'][0]),
      ports[0].port,
    ]);
  };

  it('are mirrored, follow a change, and go with the Endpoints or when the Service gets a selector', async () => {
    expect(await mirrors()).toEqual([['IPv4', ['192.0.2.1'], 5432]]);
    await cluster.patch('endpoints/db', {
      subsets: [{ addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }], ports: [{ port: 5432 }] }],
    });
    expect(await mirrors()).toEqual([['IPv4', ['192.0.2.1', '192.0.2.2'], 5432]]);
    await cluster.patch('endpoints/db', { metadata: { labels: { [SKIP_MIRROR]: 'true' } } });
    expect(await mirrors()).toEqual([]);
    await cluster.patch('endpoints/db', { metadata: { labels: { [SKIP_MIRROR]: null } } });
    expect(await mirrors()).toHaveLength(1);
    await cluster.delete('endpoints/db');
    expect(await mirrors()).toEqual([]);
  });
});

describe('bootstrap tokens', () => {
  let cluster: TestCluster;
  const token = (id: string, data: Record<string, string> = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      ...{ 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' },
      ...data,
    },
  });
  beforeAll(async () => {
    cluster = await clusterOf(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'cluster-info', namespace: 'kube-public' },
        data: { kubeconfig: 'kind: Config' },
      },
      token('aaaaaa'),
    );
    const inAnHour = new Date(cluster.clock.now().getTime() + 3_600_000).toISOString();
    await cluster.apply(token('bbbbbb', { expiration: inAnHour }));
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const keys = async () =>
    Object.keys((await cluster.get<Loose>('kube-public/configmap/cluster-info'))?.data ?? {}).sort();

  it('sign cluster-info, and are deleted when they have expired', async () => {
    expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb', 'kubeconfig']);
    await cluster.clock.advance(3_601_000);
    await cluster.settled(PATIENT);
    expect(await cluster.get('kube-system/secret/bootstrap-token-bbbbbb')).toBeUndefined();
    expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', 'kubeconfig']);
  });

  it('may be kept by kubelets for as long as their node says', async () => {
    const node = await cluster.get<Loose>('node/node-0');
    expect(node?.metadata.annotations).toMatchObject({ 'node.alpha.kubernetes.io/ttl': '0' });
  });
});
