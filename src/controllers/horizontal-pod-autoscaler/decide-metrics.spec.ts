import type { MetricSpec } from '../../machinery/generated/types/autoscaling-v2.js';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../machinery/kubernetes/index.js';
import { decideMetrics } from './decide-metrics.js';
import type { PodMetrics } from './read-metric.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LONG_AGO = '2026-01-01T00:00:00Z';

/** Two containers; the first requests 100m, the second nothing. */
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'default' },
  spec: { containers: [{ name: 'web', resources: { requests: { cpu: '100m' } } }, { name: 'side' }] },
  status: {
    phase: 'Running',
    startTime: LONG_AGO,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: LONG_AGO }],
  },
} as Pod;
const METRICS: PodMetrics = {
  apiVersion: 'metrics.k8s.io/v1beta1',
  kind: 'PodMetrics',
  metadata: { name: 'web-0', namespace: 'default' },
  timestamp: '2026-01-01T01:00:00Z',
  window: '15s',
  containers: [
    { name: 'web', usage: { cpu: '200m', memory: '64Mi' } },
    { name: 'side', usage: { cpu: '300m', memory: '64Mi' } },
  ],
};

const ofPod = (name: string, averageValue: string): MetricSpec => ({
  type: 'Resource',
  resource: { name, target: { type: 'AverageValue', averageValue } },
});
const ofContainer = (container: string): MetricSpec => ({
  type: 'ContainerResource',
  containerResource: { container, name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
});
const ofPods: MetricSpec = {
  type: 'Pods',
  pods: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '1' } },
};

const decide = (
  specs: readonly MetricSpec[],
  currentReplicas = 1,
  metrics: Parameters<typeof decideMetrics>[1] = [METRICS],
) => {
  const tolerance = { down: 0.1, up: 0.1 };
  return decideMetrics(specs, metrics, {
    pods: [POD],
    currentReplicas,
    statusReplicas: currentReplicas,
    tolerance,
    nowMs: NOW,
  });
};

describe('the number of pods that several metrics ask for', () => {
  it('is the greatest, and each is reported', () => {
    expect(decide([ofPod('memory', '64Mi'), ofPod('cpu', '100m'), ofContainer('web')])).toEqual({
      wanted: expect.objectContaining({ replicas: 5, metric: 'cpu resource' }) as unknown,
      failures: [],
      statuses: [
        { type: 'Resource', resource: { name: 'memory', current: { averageValue: '134217728' } } },
        { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '500m' } } },
        {
          type: 'ContainerResource',
          containerResource: {
            container: 'web',
            name: 'cpu',
            current: { averageUtilization: 200, averageValue: '200m' },
          },
        },
      ],
    });
  });

  it('may grow while one of them is not known, and not shrink', () => {
    const failures = [expect.objectContaining({ reason: 'FailedGetPodsMetric' })];
    const specs = [ofPods, ofPod('cpu', '100m')];
    expect(decide(specs)).toMatchObject({ wanted: { replicas: 5 }, failures });
    const shrinking = decide(specs, 9);
    expect(shrinking).toMatchObject({ failures });
    expect(shrinking.wanted).toBeUndefined();
  });

  it.each([
    {
      name: 'nobody serves metrics',
      specs: [ofPod('cpu', '1')],
      metrics: { problem: 'the server could not find the requested resource' },
      failure: {
        reason: 'FailedGetResourceMetric',
        value: 'cpu resource metric value',
        message:
          'failed to get cpu usage: unable to get metrics for resource cpu: the server could not find the requested resource',
      },
    },
    {
      name: 'no pod was measured',
      specs: [ofPod('cpu', '1')],
      metrics: [],
      failure: {
        reason: 'FailedGetResourceMetric',
        value: 'cpu resource metric value',
        message:
          'failed to get cpu usage: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
      },
    },
    {
      name: 'the container is not there',
      specs: [ofContainer('other')],
      metrics: [METRICS],
      failure: {
        reason: 'FailedGetContainerResourceMetric',
        value: 'cpu container metric value',
        message:
          'failed to get cpu utilization: unable to get metrics for resource cpu: container other not present in metrics for pod default/web-0',
      },
    },
  ])('is not known where $name', ({ failure, metrics, specs }) => {
    const decided = decide(specs, 1, metrics);
    expect(decided.wanted).toBeUndefined();
    expect(decided.failures).toEqual([failure]);
  });
});
