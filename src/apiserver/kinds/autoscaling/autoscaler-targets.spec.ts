import { describe, expect, it } from 'vitest';
import { targetsText } from './horizontal-pod-autoscaler.kind.js';

const average = { type: 'AverageValue', averageValue: '10' };
const textOf = (...metrics: object[]) => targetsText({ spec: { metrics } } as never);

describe('the targets of an autoscaler', () => {
  it.each([
    [
      'a share',
      { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 70 } } },
      'cpu: <unknown>/70%',
    ],
    [
      'an amount of each pod',
      { type: 'Resource', resource: { name: 'cpu', target: average } },
      'cpu: <unknown>/10',
    ],
    ['a metric of the pods', { type: 'Pods', pods: { target: average } }, '<unknown>/10'],
    [
      'an average of something outside',
      { type: 'External', external: { target: average } },
      '<unknown>/10 (avg)',
    ],
    ['an average of an object', { type: 'Object', object: { target: average } }, '<unknown>/10 (avg)'],
    ['a value', { type: 'External', external: { target: { value: '3' } } }, '<unknown>/3'],
  ])('are shown as %s', (_name, metric, text) => {
    expect(textOf(metric)).toBe(text);
  });
});
