import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { apiStatusOf } from '../../src/client/api-client/index.js';
import { defineKind } from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const USAGE = 'node.rollkeeper.dev/cpu-usage';

interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [field: string]: any;
}

const METRICS = { group: 'metrics.k8s.io', version: 'v1beta1' };
const PodMetrics = defineKind<Loose>({ ...METRICS, kind: 'PodMetrics', resource: 'pods' });
const HPA = defineKind<Loose>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
});
const NodeMetrics = defineKind<Loose>({
  ...METRICS,
  kind: 'NodeMetrics',
  resource: 'nodes',
  namespaced: false,
});

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { [USAGE]: '200%' } },
      spec: {
        containers: [{ name: 'web', image: 'nginx:1.27', resources: { requests: { cpu: '100m' } } }],
      },
    },
  },
};

const autoscaler = (name: string, target: object) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: {
    minReplicas: 1,
    maxReplicas: 4,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', ...target },
  },
});

describe('an autoscaler', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    const manifests = [deployment, autoscaler('web', { name: 'web' }), autoscaler('lost', { name: 'gone' })];
    cluster = await startTestCluster({ nodes: 1, clock: 'manual', manifests: manifests as never });
    await cluster.settled();
  });
  afterAll(() => cluster.stop());

  const conditionsOf = (object: Loose | undefined) =>
    Object.fromEntries(
      (object?.status.conditions as { type: string; status: string; reason: string }[]).map((each) => [
        each.type,
        `${each.status} ${each.reason}`,
      ]),
    );

  it('reads what the simulated nodes measure', async () => {
    const { items } = await cluster.client.list<Loose>(PodMetrics, {
      namespace: 'default',
      labelSelector: 'app=web',
    });
    const usage = { cpu: '200m', memory: '1Mi' };
    expect(items).toMatchObject([{ containers: [{ name: 'web', usage }] }, { containers: [{ usage }] }]);
    const node = await cluster.client.get<Loose>(NodeMetrics, { name: 'node-0' });
    expect(node.usage).toEqual({ cpu: '400m', memory: '2Mi' });
    const { name = '', namespace } = items[0]?.metadata ?? {};
    expect(await cluster.client.get<Loose>(PodMetrics, { namespace, name })).toMatchObject({
      kind: 'PodMetrics',
    });
    expect((await cluster.client.list<Loose>(PodMetrics, { labelSelector: 'app=other' })).items).toEqual([]);
  });

  it('finds metrics read-only', async () => {
    const error: unknown = await cluster.client
      .delete(PodMetrics, { namespace: 'default', name: 'web' })
      .catch((reason: unknown) => reason);
    expect(apiStatusOf(error)).toMatchObject({ code: 405 });
  });

  it('adds pods while they use too much, up to the greatest number', async () => {
    await cluster.clock.advance(90_000);
    const scaled = await cluster.waitFor<Loose>(
      'horizontalpodautoscaler/web',
      (each) => each?.status.currentReplicas === 4,
    );
    expect(scaled?.status.lastScaleTime).toBeDefined();
    await cluster.clock.advance(60_000);
    await cluster.settled();
    const settled = await cluster.get<Loose>('horizontalpodautoscaler/web');
    expect(settled?.status).toMatchObject({
      currentReplicas: 4,
      desiredReplicas: 4,
      currentMetrics: [
        { type: 'Resource', resource: { current: { averageUtilization: 200, averageValue: '200m' } } },
      ],
    });
    expect(conditionsOf(settled)).toEqual({
      AbleToScale: 'True ReadyForNewScale',
      ScalingActive: 'True ValidMetricFound',
      ScalingLimited: 'True TooManyReplicas',
    });
    const events = await cluster.list<Loose>('events');
    const rescaled = events.find(({ reason }) => reason === 'SuccessfulRescale');
    expect(rescaled?.message).toBe(
      'New size: 4; reason: cpu resource utilization (percentage of request) above target',
    );
  });

  it('takes pods away when they have used too little for five minutes', async () => {
    const template = { metadata: { annotations: { [USAGE]: '10%' } } };
    await cluster.patch('deployment/web', { spec: { template } });
    await cluster.settled();
    await cluster.clock.advance(240_000);
    await cluster.settled();
    const held = await cluster.get<Loose>('horizontalpodautoscaler/web');
    expect(held?.status.desiredReplicas).toBe(4);
    expect(conditionsOf(held).AbleToScale).toBe('True ScaleDownStabilized');
    await cluster.clock.advance(180_000);
    await cluster.waitFor<Loose>('deployment/web', (each) => each?.spec.replicas === 1);
  });

  it('says so, and scales nothing, while another one counts the same pods', async () => {
    const second = autoscaler('twin', { name: 'web' }) as unknown as Loose;
    second.metadata.namespace = 'default';
    const created = await cluster.client.create<Loose>(HPA, second);
    for (let look = 0; look < 3; look++) {
      await cluster.clock.advance(15_000);
      await cluster.settled();
    }
    for (const name of ['web', 'twin']) {
      const { status } = await cluster.client.get<Loose>(HPA, { namespace: 'default', name });
      expect(conditionsOf({ status } as unknown as Loose)).toMatchObject({
        ScalingActive: 'False AmbiguousSelector',
      });
      const { message } = status.conditions.find(({ type }: Loose) => type === 'ScalingActive');
      expect(message).toBe(
        'pods by selector app=web are controlled by multiple HPAs: [{twin default} {web default}]',
      );
    }
    await cluster.client.delete(HPA, { namespace: 'default', name: created.metadata.name });
    await cluster.clock.advance(15_000);
    await cluster.settled();
    const { status } = await cluster.client.get<Loose>(HPA, { namespace: 'default', name: 'web' });
    expect(conditionsOf({ status } as unknown as Loose).ScalingActive).toBe('True ValidMetricFound');
  });

  it('says of a target that is not there that it cannot scale it', async () => {
    const lost = await cluster.get<Loose>('horizontalpodautoscaler/lost');
    expect(conditionsOf(lost)).toEqual({ AbleToScale: 'False FailedGetScale' });
  });
});
