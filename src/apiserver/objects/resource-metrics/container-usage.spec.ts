import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import { nodeMetrics, podMetrics } from './metrics-kinds.js';
import { podOf } from '../../../testing/pod-builder.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const RUNNING = { state: { running: { startedAt: '2026-01-01T00:00:00Z' } } };

function measuredPod(annotations: Record<string, string> = {}, status: object = {}): Pod {
  return podOf({
    metadata: { labels: { app: 'web' }, annotations },
    spec: {
      containers: [
        { name: 'web', resources: { requests: { cpu: '200m', memory: '64Mi' } } },
        { name: 'side' },
      ],
    },
    status: {
      phase: 'Running',
      containerStatuses: [
        { name: 'web', ...RUNNING },
        { name: 'side', ...RUNNING },
      ],
      ...status,
    } as Pod['status'],
  });
}

const usages = (pod: Pod) => podMetrics(pod, NOW)?.containers as { usage: object }[] | undefined;

describe('the usage of a pod', () => {
  it.each([
    { name: 'is little where nobody says', annotations: {}, web: ['1m', '1Mi'], side: ['1m', '1Mi'] },
    {
      name: 'is said of each container',
      annotations: { 'cpu-usage': '250m', 'memory-usage': '64Mi' },
      web: ['250m', '64Mi'],
      side: ['250m', '64Mi'],
    },
    {
      name: 'is said of one container',
      annotations: { 'cpu-usage': '0', 'cpu-usage.web': '1.5' },
      web: ['1500m', '1Mi'],
      side: ['0', '1Mi'],
    },
    {
      name: 'is a share of what is requested, if anything is',
      annotations: { 'cpu-usage': '150%', 'memory-usage': '50%' },
      web: ['300m', '32Mi'],
      side: ['1m', '1Mi'],
    },
    {
      name: 'is little where what is said cannot be read',
      annotations: { 'cpu-usage': 'much', 'memory-usage': '-5Mi' },
      web: ['1m', '1Mi'],
      side: ['1m', '1Mi'],
    },
  ])('$name', ({ annotations, side, web }) => {
    const said = Object.entries(annotations).map(([name, value]) => [`node.rollkeeper.dev/${name}`, value]);
    const expected = [web, side].map(([cpu, memory]) => ({ cpu, memory }));
    const found = usages(measuredPod(Object.fromEntries(said) as Record<string, string>));
    expect(found?.map(({ usage }) => usage)).toEqual(expected);
  });

  it('is known of containers that run', () => {
    const waiting = { name: 'side', state: { waiting: { reason: 'CrashLoopBackOff' } } };
    const pod = measuredPod({}, { containerStatuses: [{ name: 'web', ...RUNNING }, waiting] });
    expect(usages(pod)).toMatchObject([{ name: 'web' }]);
    expect(podMetrics(measuredPod({}, { phase: 'Pending', containerStatuses: [] }), NOW)).toBeUndefined();
    expect(podMetrics(measuredPod({}, { phase: 'Succeeded' }), NOW)).toBeUndefined();
  });
});

it('shows the use of a node in whole bytes', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-0' } };
  const memory = 1_048_576n * 1_000_000_000n + 5n;
  expect(nodeMetrics(node as never, { cpu: 2_500_000_000n, memory }, NOW)).toEqual({
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'NodeMetrics',
    metadata: { name: 'node-0', creationTimestamp: '2026-01-01T00:00:00Z' },
    timestamp: '2026-01-01T00:00:00Z',
    window: '15s',
    usage: { cpu: '2500m', memory: '1Mi' },
  });
});
