import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { RollkeeperDeployment } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import type { Loose } from './support/managed-cluster.js';
import { startManagedCluster, web } from './support/managed-cluster.js';

const WEB = 'deployments.rollkeeper.dev/web';
const PATIENT = { timeoutMs: 120_000 };

/** The spec of a ReplicaSet without the hash of its template, which of apps/v1 tells an empty struct from none. */
function withoutHash(set: ReplicaSet | undefined): unknown {
  const hash = set?.metadata.labels?.['pod-template-hash'];
  expect(hash).toMatch(/^\w+$/);
  return JSON.parse(
    JSON.stringify(set?.spec).replaceAll(`"pod-template-hash":"${hash}"`, '"pod-template-hash":""'),
  );
}

describe('a Deployment of rollkeeper.dev', { timeout: 120_000 }, () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startManagedCluster();
  }, 60_000);
  afterAll(() => cluster.stop());

  const replicaSets = () => cluster.list<ReplicaSet>('replicasets');
  const rolledOut = async (): Promise<Deployment> => {
    const found = await cluster.waitFor<Deployment>(WEB, 'rollout', PATIENT);
    await cluster.settled(PATIENT);
    return found as Deployment;
  };

  it('gets its pods by an ordinary ReplicaSet, whose controller it is', async () => {
    await cluster.apply(web());
    await rolledOut();
    const [set, ...more] = await replicaSets();
    expect(more).toEqual([]);
    expect(set?.metadata.ownerReferences).toMatchObject([
      {
        apiVersion: 'rollkeeper.dev/v1',
        kind: 'Deployment',
        name: 'web',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(set?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '1' });
    const stored = await cluster.get<Loose>(WEB);
    expect(stored).toMatchObject({
      metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } },
      spec: { strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
      status: {
        replicas: 2,
        readyReplicas: 2,
        updatedReplicas: 2,
        unavailableReplicas: 0,
        selector: 'app=web',
      },
    });
  });

  it('changes nothing more once it is rolled out', async () => {
    const before = await cluster.get<Loose>(WEB);
    await cluster.patch(WEB, { metadata: { labels: { touched: 'yes' } } });
    await cluster.settled(PATIENT);
    const after = await cluster.get<Loose>(WEB);
    expect(after?.['status']).toEqual(before?.['status']);
    expect(await replicaSets()).toHaveLength(1);
  });

  it('rolls out a new template, and back by the annotation that asks for it', async () => {
    await cluster.apply(web({ image: 'web:2' }));
    await rolledOut();
    const sizes = (await replicaSets()).map(({ metadata, spec }) => [
      metadata.annotations?.['deployment.kubernetes.io/revision'],
      spec.replicas,
    ]);
    expect(sizes.sort()).toEqual([
      ['1', 0],
      ['2', 2],
    ]);
    await cluster.patch(WEB, { metadata: { annotations: { 'deprecated.deployment.rollback.to': '1' } } });
    const back = await cluster.waitFor<Deployment>(
      WEB,
      (object) => object?.metadata.annotations?.['deployment.kubernetes.io/revision'] === '3',
      PATIENT,
    );
    expect(back?.spec.template.spec?.containers[0]?.image).toBe('web:1');
    expect(back?.metadata.annotations).not.toHaveProperty(['deprecated.deployment.rollback.to']);
    await rolledOut();
    expect(await replicaSets()).toHaveLength(2);
  });

  it('is scaled by its scale subresource, by which a budget counts its pods', async () => {
    await cluster.apply({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await cluster.patch(WEB, { spec: { replicas: 3 } }, { subresource: 'scale' });
    await rolledOut();
    const budget = await cluster.waitFor<Loose>(
      'poddisruptionbudget/web',
      (object) => object?.['status']?.expectedPods === 3 && object['status'].currentHealthy === 3,
      PATIENT,
    );
    expect(budget?.['status']).toMatchObject({ desiredHealthy: 2, disruptionsAllowed: 1 });
    const scale = await cluster.client.get<Loose>(
      RollkeeperDeployment,
      { namespace: 'default', name: 'web' },
      { subresource: 'scale' },
    );
    expect(scale).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 3, selector: 'app=web' } });
  });

  it('merges containers by name when several apply to it', async () => {
    const sidecar = { name: 'log', image: 'log:1' };
    const body = {
      apiVersion: 'rollkeeper.dev/v1',
      kind: 'Deployment',
      spec: { template: { spec: { containers: [sidecar] } } },
    };
    const applied = await cluster.client.patch<Loose>(
      RollkeeperDeployment,
      { namespace: 'default', name: 'web' },
      { type: 'apply', body },
      { fieldManager: 'somebody-else' },
    );
    const containers = applied['spec'].template.spec.containers as { name: string }[];
    expect(containers.map(({ name }) => name)).toEqual(['web', 'log']);
    await rolledOut();
  });

  it('takes its ReplicaSets and pods with it when it is deleted', async () => {
    const [sets, pods] = [await replicaSets(), await cluster.list('pods')];
    expect([sets.length, pods.length]).toEqual([3, 3]);
    await cluster.delete(WEB);
    for (const { metadata } of sets) await cluster.waitFor(`replicaset/${metadata.name}`, 'delete', PATIENT);
    for (const { metadata } of pods) await cluster.waitFor(`pod/${metadata.name}`, 'delete', PATIENT);
  });

  it('has a ReplicaSet of the same pods as the same Deployment of apps/v1, whatever the server fills into it', async () => {
    const rich = {
      container: {
        env: [
          { name: 'EMPTY', value: '' },
          { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        ],
        ports: [{ containerPort: 8080 }, { containerPort: 8080, protocol: 'UDP' }],
        resources: { limits: { cpu: 1, memory: '1024Mi' }, requests: { cpu: '0.5', memory: '512Mi' } },
        readinessProbe: { httpGet: { port: 8080 } },
        lifecycle: { preStop: { httpGet: { port: 8080 } } },
      },
      pod: {
        serviceAccountName: 'default',
        hostNetwork: false,
        volumes: [
          { name: 'scratch' },
          { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1024Mi' } },
          { name: 'settings', configMap: { name: 'settings', optional: true } },
          { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
        ],
      },
    };
    await cluster.apply(web({ api: 'apps/v1', ...rich }));
    await cluster.waitFor('deployments.apps/web', 'rollout', PATIENT);
    const [genuine] = await replicaSets();
    await cluster.delete('deployments.apps/web');
    await cluster.waitFor(`replicaset/${genuine?.metadata.name}`, 'delete', PATIENT);
    await cluster.apply(web(rich));
    await rolledOut();
    const sets = await replicaSets();
    expect(sets).toHaveLength(1);
    expect(withoutHash(sets[0])).toEqual(withoutHash(genuine));
    await cluster.delete(WEB);
    await cluster.waitFor(WEB, 'delete', PATIENT);
  });

  it.each([
    {
      what: 'a selector that selects other pods',
      spec: { selector: { matchLabels: { app: 'other' } } },
      says: /does not match template/,
    },
    {
      what: 'an expression that selects other pods',
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] } },
      says: /does not match template/,
    },
    { what: 'a negative size', spec: { replicas: -1 }, says: /replicas.*greater than or equal to 0/ },
    {
      what: 'a rollout that can never move',
      spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
      says: /may not be 0 when/,
    },
    {
      what: 'a deadline before pods count',
      spec: { minReadySeconds: 600 },
      says: /must be greater than minReadySeconds/,
    },
    { what: 'pods that end', pod: { restartPolicy: 'Never' }, says: /restartPolicy.*Always/ },
  ])('is refused with $what', async ({ spec, pod, says }) => {
    await expect(cluster.apply(web({ ...(spec && { spec }), ...(pod && { pod }) }))).rejects.toThrow(says);
  });

  it('keeps its selector for life', async () => {
    await cluster.apply(
      web({ spec: { replicas: 0, selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } }),
    );
    const change = { spec: { selector: { matchExpressions: null, matchLabels: { app: 'web' } } } };
    await expect(cluster.patch(WEB, change)).rejects.toThrow(/selector.*field is immutable/);
  });
});

describe('an autoscaler', () => {
  it('finds a Deployment of rollkeeper.dev', async () => {
    const cluster = await startManagedCluster({ clock: 'manual' });
    await cluster.apply(web());
    await cluster.waitFor(WEB, 'rollout', PATIENT);
    await cluster.apply({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: {
        minReplicas: 4,
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: 'rollkeeper.dev/v1', kind: 'Deployment', name: 'web' },
      },
    });
    await cluster.clock.advance(30_000);
    await cluster.waitFor<Deployment>(WEB, (object) => object?.spec.replicas === 4, PATIENT);
    await cluster.stop();
  });
});
