import { describe, expect, it } from 'vitest';
import type { MetricSpec } from '../../machinery/generated/types/autoscaling-v2.js';
import { aPod } from '../../testing/pod-builder.js';
import type { CustomReading } from './custom-metric.js';
import { compileCustomMetric } from './custom-metric.js';
import type { CustomFacts } from './decide-custom.js';
import { decideMetrics } from './decide-metrics.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const SINCE = '2026-01-01T11:00:00Z';
const web = (index: number) => aPod({ name: `web-${index}`, readySince: SINCE });

const facts: CustomFacts = {
  ...{ pods: [web(0), web(1)], currentReplicas: 2, statusReplicas: 2 },
  ...{ tolerance: { down: 0.1, up: 0.1 }, nowMs: NOW },
};
const pods = (averageValue: string): MetricSpec => ({
  type: 'Pods',
  pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue } },
});
const object = (target: NonNullable<MetricSpec['object']>['target']): MetricSpec => ({
  type: 'Object',
  object: {
    ...{ metric: { name: 'hits' }, target },
    describedObject: { apiVersion: 'v1', kind: 'Service', name: 'web' },
  },
});
const external = (
  target: NonNullable<MetricSpec['external']>['target'],
  matchLabels?: Record<string, string>,
): MetricSpec => ({
  type: 'External',
  external: { metric: { name: 'depth', ...(matchLabels && { selector: { matchLabels } }) }, target },
});
const samples = (...milli: number[]): CustomReading => ({
  samples: new Map(
    milli.map((each, index) => [`web-${index}`, { milli: each, takenMs: NOW, windowMs: 1000 }]),
  ),
});
const decide = (spec: MetricSpec, reading: CustomReading, more: Partial<CustomFacts> = {}) =>
  decideMetrics([spec], [], { ...facts, ...more }, new Map([[0, reading]]));

describe('metrics of pods, objects and from outside', () => {
  it.each([
    {
      name: 'an average of pods',
      spec: pods('10'),
      reading: samples(30_000, 30_000),
      replicas: 6,
      metric: 'pods metric qps',
    },
    {
      name: 'within the tolerance',
      spec: pods('10'),
      reading: samples(10_500, 10_500),
      replicas: 2,
      metric: 'pods metric qps',
    },
    {
      name: 'a value of an object',
      spec: object({ type: 'Value', value: '100' }),
      reading: { milli: 250_000 },
      replicas: 5,
      metric: 'Service metric hits',
    },
    {
      name: 'an average of an object',
      spec: object({ type: 'AverageValue', averageValue: '100' }),
      reading: { milli: 450_000 },
      replicas: 5,
      metric: 'external metric hits(nil)',
    },
    {
      name: 'a value from outside',
      spec: external({ type: 'Value', value: '10' }),
      reading: { milli: 30_000 },
      replicas: 6,
      metric: 'external metric depth(nil)',
    },
    {
      name: 'an average from outside',
      spec: external({ type: 'AverageValue', averageValue: '10' }, { queue: 'mail' }),
      reading: { milli: 75_000 },
      replicas: 8,
      metric:
        'external metric depth(&LabelSelector{MatchLabels:map[string]string{queue: mail,},MatchExpressions:[]LabelSelectorRequirement{},})',
    },
  ])('$name asks for $replicas pods', ({ metric, reading, replicas, spec }) => {
    expect(decide(spec, reading).wanted).toMatchObject({ replicas, metric });
  });

  it('counts ready pods for a value, and none where the size is 0', () => {
    const spec = object({ type: 'Value', value: '100' });
    const unready = { pods: [web(0), aPod({ name: 'web-1' })] };
    expect(decide(spec, { milli: 250_000 }, unready).wanted?.replicas).toBe(3);
    expect(decide(spec, { milli: 250_000 }, { currentReplicas: 0 }).wanted?.replicas).toBe(3);
  });

  it('says in the status what was measured', () => {
    expect(decide(pods('10'), samples(30_000, 20_000)).statuses).toEqual([
      { type: 'Pods', pods: { metric: { name: 'qps' }, current: { averageValue: '25' } } },
    ]);
    expect(decide(external({ type: 'Value', value: '10' }), { milli: 2500 }).statuses).toEqual([
      { type: 'External', external: { metric: { name: 'depth' }, current: { value: '2500m' } } },
    ]);
  });

  it('is no metric without a target', () => {
    expect(compileCustomMetric(object({ type: 'Value' }))).toEqual({
      problem: 'invalid object metric source: neither a value target nor an average value target was set',
    });
  });
});
