import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../machinery/errors/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { MAX_INT32 } from './int32.js';
import { maxTotalReplicas, maxUnavailable, minAvailable, resolveFenceposts } from './limits.js';

type Limit = string | number;

function specWith(
  replicas: number,
  maxSurge: Limit,
  maxUnavailable: Limit,
): ReturnType<typeof aDeployment>['spec'] {
  const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } };
  return aDeployment({ replicas, strategy }).spec;
}

describe('the limits of a rolling update', () => {
  it.each<[string, number, Limit, Limit, number, number]>([
    ['the surge is rounded up, the unavailable down', 10, '25%', '25%', 3, 2],
    ['numbers are pods', 10, 3, 1, 3, 1],
    ['both 0 would never move: one may be unavailable', 10, 0, 0, 0, 1],
    ['a percentage that rounds to 0 counts as 0', 2, '0%', '30%', 0, 1],
    ['no float error: 7 % of 100 is 7', 100, '7%', '7%', 7, 7],
    ['100 % of both', 4, '100%', '100%', 4, 4],
    ['more than 100 % is more than there are', 4, '1000%', '250%', 40, 10],
    ['no more than an int32 holds', 50_000, '99999999999%', MAX_INT32, MAX_INT32, MAX_INT32],
  ])('%s', (_name, replicas, surge, unavailable, expectedSurge, expectedUnavailable) => {
    expect(resolveFenceposts(specWith(replicas, surge, unavailable))).toEqual({
      maxSurge: expectedSurge,
      maxUnavailable: expectedUnavailable,
    });
  });

  it('10 pods at 25 %/25 % are between 8 available and 13 in all', () => {
    const spec = specWith(10, '25%', '25%');
    expect([minAvailable(spec), maxTotalReplicas(spec)]).toEqual([8, 13]);
  });

  it('no more can be unavailable than there are', () => {
    expect(maxUnavailable(specWith(3, 1, 7))).toBe(3);
    expect(maxUnavailable(specWith(0, 1, 7))).toBe(0);
  });

  it('sums do not wrap around', () => {
    expect(maxTotalReplicas(specWith(2, MAX_INT32, 0))).toBe(MAX_INT32 + 2);
    expect(minAvailable(specWith(MAX_INT32, 0, MAX_INT32))).toBe(0);
  });

  it('a Recreate has neither', () => {
    const { spec } = aDeployment({ replicas: 5, strategy: { type: 'Recreate' } });
    expect([minAvailable(spec), maxTotalReplicas(spec)]).toEqual([5, 5]);
  });

  it.each(['many', '10', '-5%', '1.5%', ''])('"%s" is refused, and the field named', (value) => {
    expect(() => resolveFenceposts(specWith(10, value, 1))).toThrow(InvalidOptionError);
    expect(() => resolveFenceposts(specWith(10, 1, value))).toThrow(
      'spec.strategy.rollingUpdate.maxUnavailable',
    );
  });
});
