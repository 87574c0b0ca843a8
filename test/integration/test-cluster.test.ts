import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { Redis } from 'ioredis';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { KubernetesObject, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { defineController } from '../../src/runtime/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster, TestClusterOptions } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { isNightly } from '../../src/testing/property-runs.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';

const run = promisify(execFile);
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };

/** Clusters that live beside each other; each has controllers and nodes of its own. */
const CLUSTERS = isNightly ? 20 : 5;

const web = (spec: object = {}, image = 'nginx:1.27') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    ...spec,
  },
});

const uidsOf = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.uid).sort();
const conditionOf = (deployment: Deployment | undefined, type: string) =>
  deployment?.status?.conditions?.find((condition) => condition.type === type);

describe.each(['memory', 'redis'] as const)('a test cluster on %s', (kind) => {
  const store = (): TestClusterOptions['store'] =>
    kind === 'memory' ? 'memory' : { redisUrl: inject('redisUrl') };
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ store: store(), manifests: web() });
  });
  afterAll(() => cluster.stop());

  it('gives the Deployments of its manifests pods that are ready on its nodes', async () => {
    const deployment = await cluster.waitFor<Deployment>('deployment/web', 'rollout', PATIENT);
    expect(deployment?.status).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
    const pods = await cluster.list<Pod>('pods', { labelSelector: 'app=web' });
    expect(pods.map(({ spec, status }) => [status?.phase, spec.nodeName?.startsWith('node-')])).toEqual(
      Array.from({ length: 3 }, () => ['Running', true]),
    );
  });

  it('rolls a change out, under the hands of a foreign client', async () => {
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeconfig.text);
    const [apps, core] = [config.makeApiClient(AppsV1Api), config.makeApiClient(CoreV1Api)];
    await cluster.settled(PATIENT);
    const before = await apps.readNamespacedDeployment({ name: 'web', namespace: 'default' });
    before.spec!.template.spec!.containers[0]!.image = 'nginx:1.28';
    await apps.replaceNamespacedDeployment({ name: 'web', namespace: 'default', body: before });
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    const sets = await cluster.list<ReplicaSet>('replicasets', { namespace: 'default' });
    expect(sets.map(({ spec }) => spec.replicas).sort()).toEqual([0, 3]);
    await cluster.settled(PATIENT);
    const { items } = await core.listNamespacedPod({ namespace: 'default' });
    expect(items.map(({ spec }) => spec?.containers[0]?.image)).toEqual(
      Array.from({ length: 3 }, () => 'nginx:1.28'),
    );
  });

  it('can be used by kubectl, through the file that its environment names', async () => {
    expect(statSync(cluster.kubeconfig.path).mode & 0o777).toBe(0o600);
    const env = { ...process.env, ...cluster.env };
    await run(KUBECTL, ['scale', 'deployment/web', '--replicas=1'], { env });
    const { stdout } = await run(KUBECTL, ['rollout', 'status', 'deployment/web', '--timeout=45s'], { env });
    expect(stdout).toContain('successfully rolled out');
  });

  it('goes back to a snapshot, and lives on from there', async () => {
    await cluster.apply(web({ replicas: 2 }));
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    await cluster.settled(PATIENT);
    const snapshot = await cluster.snapshot();
    const pods = uidsOf(await cluster.list('pods'));
    const deployment = await cluster.get('deployment/web');
    await cluster.delete('deployment/web');
    for (const pod of await cluster.list('pods')) await cluster.waitFor(pod, 'delete', PATIENT);
    await cluster.restore(snapshot);
    expect(uidsOf(await cluster.list('pods'))).toEqual(pods);
    expect((await cluster.get('deploy/web'))?.metadata.uid).toBe(deployment?.metadata.uid);
    await cluster.settled(PATIENT);
    expect(uidsOf(await cluster.list('pods'))).toEqual(pods);
    await cluster.patch('deployment/web', { spec: { replicas: 3 } });
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    expect(uidsOf(await cluster.list('pods'))).toEqual(expect.arrayContaining(pods));
  });

  it('takes away with an owner what it owned', async () => {
    await cluster.delete('deployment/web', { propagationPolicy: 'Foreground' });
    await cluster.waitFor('deployment/web', 'delete', PATIENT);
    expect(await cluster.list('replicasets')).toEqual([]);
    expect(await cluster.list('pods')).toEqual([]);
  });
});

describe('the time of a test cluster', () => {
  it.each(['memory', 'redis'] as const)('stands until it is moved, on %s', async (kind) => {
    const store = kind === 'memory' ? kind : { redisUrl: inject('redisUrl') };
    const clock = { startAt: '2030-01-01T00:00:00Z' };
    await using cluster = await startTestCluster({ store, clock, manifests: web({ minReadySeconds: 300 }) });
    await cluster.settled(PATIENT);
    const statusNow = async () => (await cluster.get<Deployment>('deployment/web'))?.status;
    expect(await statusNow()).toMatchObject({ readyReplicas: 3 });
    expect((await cluster.get('deployment/web'))?.metadata.creationTimestamp).toBe('2030-01-01T00:00:00Z');
    await cluster.clock.advance(299_000);
    expect((await statusNow())?.availableReplicas).toBeUndefined();
    await cluster.clock.advance(1000);
    expect((await statusNow())?.availableReplicas).toBe(3);
    expect(cluster.clock.now()).toEqual(new Date('2030-01-01T00:05:00Z'));
  });

  it('brings a rollout that cannot end to its deadline', async () => {
    await using cluster = await startTestCluster({ clock: 'manual' });
    await cluster.apply(web({ progressDeadlineSeconds: 600 }, 'nginx:does-not-exist'));
    await cluster.settled(PATIENT);
    const progressing = async () =>
      conditionOf(await cluster.get<Deployment>('deployment/web'), 'Progressing');
    await cluster.clock.advance(590_000);
    expect(await progressing()).toMatchObject({ status: 'True' });
    await cluster.clock.advance(20_000);
    expect(await progressing()).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
  });

  it('goes back with a snapshot', async () => {
    await using cluster = await startTestCluster({
      clock: 'manual',
      manifests: web({ minReadySeconds: 60 }),
    });
    await cluster.settled(PATIENT);
    const snapshot = await cluster.snapshot();
    const availableAfter = async (ms: number) => {
      await cluster.clock.advance(ms);
      return (await cluster.get<Deployment>('deployment/web'))?.status?.availableReplicas;
    };
    expect(await availableAfter(60_000)).toBe(3);
    await cluster.restore(snapshot);
    expect(cluster.clock.now().toISOString()).toBe(snapshot.time);
    expect(await availableAfter(59_000)).toBeUndefined();
    expect(await availableAfter(1000)).toBe(3);
  });

  it('keeps nodes alive however far it is moved', async () => {
    await using cluster = await startTestCluster({ clock: 'manual', nodes: 1 });
    await cluster.clock.advance(600_000);
    const lease = await cluster.get<KubernetesObject & { spec: { renewTime: string } }>(
      'kube-node-lease/lease/node-0',
    );
    const silentMs = cluster.clock.now().getTime() - Date.parse(lease?.spec.renewTime ?? '');
    expect(silentMs).toBeLessThanOrEqual(10_000);
  });
});

describe('a test cluster', () => {
  it('has the controllers and nodes that were chosen, and no others', async () => {
    await using cluster = await startTestCluster({ controllers: ['deployment'], nodes: 0, manifests: web() });
    await cluster.waitFor<ReplicaSet>('deployment/web', (it) => it !== undefined, PATIENT);
    await cluster.settled(PATIENT);
    expect(await cluster.list('replicasets')).toHaveLength(1);
    expect([await cluster.list('pods'), await cluster.list('nodes')]).toEqual([[], []]);
  });

  it('is an API alone where neither controllers nor nodes are wanted', async () => {
    await using cluster = await startTestCluster({ controllers: [], nodes: 0, manifests: web() });
    await cluster.settled(PATIENT);
    expect(await cluster.list('replicasets')).toEqual([]);
  });

  it('runs a controller of one’s own, on the cluster’s time', async () => {
    const seen: string[] = [];
    const own = defineController({ name: 'own', for: Deployment, workers: 1 }, ({ clock }) => ({
      reconcile: async ({ key }) => {
        seen.push(`${key} ${new Date(clock.now()).toISOString()}`);
        return seen.length < 3 ? { requeueAfterMs: 60_000 } : {};
      },
    }));
    const clock = { startAt: '2030-01-01T00:00:00Z' };
    await using cluster = await startTestCluster({ controllers: [own], nodes: 0, clock, manifests: web() });
    await cluster.clock.advance(600_000);
    expect(seen).toEqual([
      'default/web 2030-01-01T00:00:00.000Z',
      'default/web 2030-01-01T00:01:00.000Z',
      'default/web 2030-01-01T00:02:00.000Z',
    ]);
  });

  it('begins with a snapshot of another', async () => {
    const first = await startTestCluster({ manifests: web() });
    await first.waitFor('deployment/web', 'rollout', PATIENT);
    await first.settled(PATIENT);
    const pods = uidsOf(await first.list('pods'));
    const snapshot = await first.snapshot();
    await first.stop();
    await using second = await startTestCluster({ snapshot });
    await second.settled(PATIENT);
    expect(uidsOf(await second.list('pods'))).toEqual(pods);
  });

  it('lives beside others that know nothing of it', async () => {
    const clusters: TestCluster[] = [];
    try {
      // One after the other: many starts at once keep one thread from everything else for longer than a request may take.
      for (let index = 0; index < CLUSTERS; index++) clusters.push(await startTestCluster());
      await Promise.all(
        clusters.map((cluster, index) => cluster.apply(web({ replicas: index % 4 }, `nginx:1.${index}`))),
      );
      await Promise.all(
        clusters.map((cluster) => cluster.waitFor('deployment/web', 'rollout', { timeoutMs: 200_000 })),
      );
      const counts = await Promise.all(clusters.map(async (cluster) => (await cluster.list('pods')).length));
      expect(counts).toEqual(clusters.map((_, index) => index % 4));
      expect(new Set(clusters.map(({ url }) => url)).size).toBe(CLUSTERS);
      const [a, b] = clusters as [TestCluster, TestCluster];
      expect([await fetchStatus(a, a.token), await fetchStatus(a, b.token)]).toEqual([200, 401]);
    } finally {
      await Promise.all(clusters.map((cluster) => cluster.stop()));
    }
  }, 240_000);

  it('has users and service accounts that may do what roles say', async () => {
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
    const binding = (name: string, role: string, subject: object) => ({
      ...rbac,
      kind: 'RoleBinding',
      metadata: { name, namespace: 'default' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [subject],
    });
    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'app', namespace: 'default' },
    };
    await using cluster = await startTestCluster({
      controllers: [],
      nodes: 0,
      users: ['jane', { name: 'bob', groups: ['dev'] }],
      manifests: [
        web(),
        account,
        binding('dev', 'view', { kind: 'Group', name: 'dev' }),
        binding('app', 'edit', { kind: 'ServiceAccount', name: 'app' }),
      ],
    });
    const list = async (name: string) => {
      const { client } = await cluster.user(name);
      return (await client.list(Deployment, { namespace: 'default' })).items.length;
    };
    expect(await list('bob')).toBe(1);
    await expect(list('jane')).rejects.toThrow('User "jane" cannot list resource "deployments"');
    const app = await cluster.user('system:serviceaccount:default:app');
    await app.client.delete(Deployment, { namespace: 'default', name: 'web' });
    expect(await list('bob')).toBe(0);
    expect(app.kubeconfig.text).toContain(app.token);
    expect(new Set([app, await cluster.user('jane'), cluster].map(({ token }) => token)).size).toBe(3);
    await expect(cluster.user('eve')).rejects.toThrow('has jane, bob, and system:serviceaccount');
    await expect(cluster.user('system:serviceaccount:default:eve')).rejects.toThrow('"eve" not found');
  });

  it('tells what it waited for in vain, and how things stood', async () => {
    await using cluster = await startTestCluster({ manifests: web({}, 'nginx:does-not-exist') });
    await cluster.settled(PATIENT);
    await expect(cluster.waitFor('deployment/web', 'rollout', { timeoutMs: 50 })).rejects.toThrow(
      /^Deployment default\/web: waited 50 ms for rollout; 0 of 3 replicas available, 3 updated; /,
    );
    await expect(cluster.waitFor('pod/none', 'create', { timeoutMs: 50 })).rejects.toThrow(
      /it does not exist/,
    );
    await expect(cluster.waitFor('deployment/web', 'done')).rejects.toThrow(/is not one of create, delete/);
    await expect(cluster.get('widgets/a')).rejects.toThrow('the server does not have widgets');
  });

  it('stops once, ends every wait with the reason, and is of no use after', async () => {
    const cluster = await startTestCluster();
    const wait = cluster.waitFor('pod/none', 'create', PATIENT);
    const ended = expect(wait).rejects.toMatchObject({ code: 'SHUTDOWN' });
    await Promise.all([cluster.stop(), cluster.stop()]);
    await ended;
    expect(existsSync(cluster.kubeconfig.path)).toBe(false);
    await expect(cluster.snapshot()).rejects.toMatchObject({ code: 'SHUTDOWN' });
    await expect(cluster.list('pods')).rejects.toMatchObject({ code: 'SHUTDOWN' });
    await expect(cluster.settled()).rejects.toMatchObject({ code: 'SHUTDOWN' });
    await expect(fetchStatus(cluster, cluster.token)).rejects.toThrow();
  });

  it('stops when its signal aborts, and does not start once it has', async () => {
    const stopper = new AbortController();
    const cluster = await startTestCluster({ signal: stopper.signal });
    const wait = expect(cluster.waitFor('pod/none', 'create', PATIENT)).rejects.toMatchObject({
      code: 'SHUTDOWN',
    });
    stopper.abort(new Error('enough'));
    await wait;
    await cluster.stop();
    expect(existsSync(cluster.kubeconfig.path)).toBe(false);
    await expect(startTestCluster({ signal: stopper.signal })).rejects.toThrow('enough');
  });

  it('does not come up with manifests that the server refuses, and leaves nothing', async () => {
    await expect(startTestCluster({ manifests: web({ replicas: -1 }) })).rejects.toThrow(
      /Deployment.apps "web" is invalid: spec.replicas/,
    );
    await expect(startTestCluster({ manifests: 'kind: [' })).rejects.toThrow(/^manifests, document 1/);
  });

  it('leaves nothing on Redis', async () => {
    const server = await startTestRedisServer();
    const redis = new Redis(server.url);
    try {
      const cluster = await startTestCluster({ store: { redisUrl: server.url }, manifests: web() });
      await cluster.waitFor('deployment/web', 'rollout', PATIENT);
      expect(await redis.dbsize()).toBeGreaterThan(0);
      await cluster.stop();
      expect(await redis.keys('*')).toEqual([]);
    } finally {
      await redis.quit();
      await server.stop();
    }
  });
});

async function fetchStatus(cluster: TestCluster, token: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: cluster.ca } });
  try {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${cluster.url}/api/v1/namespaces`, { dispatcher, headers })).status;
  } finally {
    await dispatcher.destroy();
  }
}
