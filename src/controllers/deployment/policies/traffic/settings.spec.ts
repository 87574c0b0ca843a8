import { describe, expect, it } from 'vitest';
import { P } from '../../../../testing/policy-lab.js';
import { compilePolicy, renderProblems } from '../compile-policy.js';
import { routesNamedBy } from './settings.js';

describe('the settings of a rollout by weights', () => {
  it('name routes and rules of the two kinds that have weights', () => {
    expect(routesNamedBy('httproute/web, grpcroute/api/buy')).toEqual([
      { kind: 'httproute', name: 'web' },
      { kind: 'grpcroute', name: 'api', rule: 'buy' },
    ]);
    for (const wrong of [
      'web',
      'httproute/',
      'tcproute/web',
      'httproute/a/b/c',
      'httproute/web,',
      'httproute/../x',
    ])
      expect(routesNamedBy(wrong), wrong).toEqual([]);
  });

  it.each([
    [
      'weights without a route',
      { steps: 'weight 5%' },
      'says which requests the new version gets, which needs rollkeeper.dev/traffic',
    ],
    ['a drain without a route', { 'traffic-drain': '5s' }, 'needs rollkeeper.dev/traffic'],
  ])('are wrong if there are %s', (_case, policies, why) => {
    const annotations = Object.fromEntries(
      Object.entries(policies).map(([name, value]) => [P + name, value]),
    );
    const compiled = compilePolicy(annotations, undefined);
    expect(compiled.kind === 'invalid' ? renderProblems(compiled.problems) : '').toContain(why);
  });

  it.each([
    [
      'maxSurge of less than 100%',
      {},
      { maxSurge: 1 },
      'needs spec.strategy.rollingUpdate.maxSurge of 100% or more',
    ],
    ['blue-green', { strategy: 'blue-green', 'active-service': 'web' }, {}, 'strategy: blue-green'],
    [
      'a surge that takes an old pod first',
      { surge: 'if-it-fits' },
      {},
      'cannot be combined with rollkeeper.dev/surge',
    ],
    [
      'one Service for both versions',
      { 'stable-service': 'a', 'canary-service': 'a' },
      {},
      'is the same Service as',
    ],
  ])('does not go with %s', (_case, policies, shape, why) => {
    const annotations = Object.entries({ traffic: 'httproute/web', ...policies }).map(([name, value]) => [
      `${P}${name}`,
      value,
    ]);
    const compiled = compilePolicy(Object.fromEntries(annotations) as Record<string, string>, undefined, {
      ...{ isRollingUpdate: true, maxSurge: '100%', ...shape },
    });
    expect(compiled.kind === 'invalid' ? renderProblems(compiled.problems) : '').toContain(why);
  });
});
