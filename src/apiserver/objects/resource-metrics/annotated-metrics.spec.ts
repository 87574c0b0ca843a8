import { describe, expect, it } from 'vitest';
import { annotatedValues } from './handle-custom-metrics.js';

const on = (annotations: Record<string, string>) => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name: 'web', annotations },
});

describe('the measurements that an object says of itself', () => {
  it.each([
    { text: '120', values: [{ value: '120', labels: {} }] },
    { text: ' 250m ', values: [{ value: '250m', labels: {} }] },
    { text: '5{queue=mail, tier=gold}', values: [{ value: '5', labels: { queue: 'mail', tier: 'gold' } }] },
    {
      text: '1{a=b}; 2',
      values: [
        { value: '1', labels: { a: 'b' } },
        { value: '2', labels: {} },
      ],
    },
    { text: 'much', values: [] },
    { text: '', values: [] },
  ])('is read from "$text"', ({ text, values }) => {
    expect(annotatedValues(on({ 'node.rollkeeper.dev/metric-qps': text }), 'qps')).toEqual(values);
  });

  it('is selected by its labels', () => {
    const namespace = on({ 'node.rollkeeper.dev/external-metric-depth': '3{queue=a}; 4{queue=b}' });
    const of = (selector: string) => annotatedValues(namespace, 'depth', { isExternal: true, selector });
    expect(of('queue=b').map(({ value }) => value)).toEqual(['4']);
    expect(of('').map(({ value }) => value)).toEqual(['3', '4']);
    expect(annotatedValues(namespace, 'depth'), 'of the Namespace itself').toEqual([]);
  });
});
