import { describe, expect, it } from 'vitest';
import { BROKEN_IMAGE, refusal } from '../../../../testing/rollout-world.js';
import type { FullRule } from './route-part.js';
import { TrafficLab, bothServices } from './traffic-lab.fixture.js';

const HEADER = { type: 'Exact', name: 'x-canary', value: 'always' };
const COOKIE = { type: 'RegularExpression', name: 'Cookie', value: '^(.*;\\s*)?who=me(\\s*;.*)?$' };

function rules(traffic: TrafficLab): readonly FullRule[] {
  return traffic.routes[0]?.spec.rules ?? [];
}

/** The headers that the added rules ask for. */
function added(traffic: TrafficLab): unknown {
  return rules(traffic)
    .filter(({ name }) => name?.startsWith('rollkeeper.web.'))
    .map(({ matches = [] }) => matches.map(({ headers = [] }) => headers.at(-1)));
}

describe('requests with a header or a cookie', () => {
  it('go to the new version by a rule of their own, before it has any share, and no longer after the rollout', async () => {
    const steps = 'header x-canary=always; approve; weight 50%; approve';
    const traffic = await TrafficLab.rolledOut({ policies: { steps, 'traffic-drain': '5s' } });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 1 });
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.selected('web-canary')).toBe('app:2');
    expect(rules(traffic)).toEqual([
      bothServices(100, 0),
      {
        name: 'rollkeeper.web.1',
        matches: [{ path: { type: 'PathPrefix', value: '/' }, headers: [HEADER] }],
        backendRefs: [{ name: 'web-canary', port: 80, weight: 1 }],
      },
    ]);
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 2 of 4/);
    await traffic.annotate('approve', 'me');
    expect(traffic.weights()).toEqual([50, 50]);
    expect(added(traffic)).toEqual([[HEADER]]);
    await traffic.annotate('approve', 'me');
    expect([traffic.weights(), added(traffic)]).toEqual([[0, 100], []]);
    await traffic.seconds(8);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
    expect(rules(traffic)).toEqual([bothServices(100, 0)]);
  });

  it('go there until the next step of the same kind, or until one that says off', async () => {
    const steps = 'header x-canary=always; cookie who=me; approve; header off; approve; cookie off; approve';
    const traffic = await TrafficLab.rolledOut({ policies: { steps } });
    await traffic.image('app:2');
    expect(added(traffic)).toEqual([[HEADER, COOKIE]]);
    await traffic.annotate('approve', 'me');
    expect(added(traffic)).toEqual([[COOKIE]]);
    await traffic.annotate('approve', 'me');
    expect(added(traffic)).toEqual([]);
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 7 of 7/);
  });

  it('go back by the first write of an abort, and the pods end only when it has drained', async () => {
    const policies = { steps: 'header x-canary=always; mirror 10%; approve', 'traffic-drain': '5s' };
    const traffic = await TrafficLab.rolledOut({ policies });
    await traffic.image('app:2');
    const before = traffic.lab.world.api.writes.length;
    await traffic.annotate('abort', 'me');
    const writes = traffic.lab.world.api.writes.slice(before).map(({ type }) => type.resource);
    expect(writes[0]).toBe('httproutes');
    expect(writes.filter((resource) => resource === 'httproutes')).toHaveLength(1);
    expect(rules(traffic)).toEqual([bothServices(100, 0)]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 1 });
    await traffic.seconds(8);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('keep all that other people have in the route, with the conditions, filters and timeouts of each rule', async () => {
    const matches = [
      { path: { type: 'Exact', value: '/buy' } },
      { headers: [{ type: 'Exact' as const, name: 'x-beta', value: '1' }] },
    ];
    const others = { timeouts: { request: '3s' }, filters: [{ type: 'RequestHeaderModifier' }] };
    const health = { name: 'health', backendRefs: [{ name: 'web-stable' }] };
    const shop = { ...bothServices(), ...others, matches };
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: 'header x-canary=always; approve' },
      rules: [shop, health],
    });
    await traffic.image('app:2');
    expect(rules(traffic)).toEqual([
      shop,
      health,
      {
        ...others,
        name: 'rollkeeper.web.1',
        matches: [
          { path: { type: 'Exact', value: '/buy' }, headers: [HEADER] },
          { headers: [...(matches[1]?.headers ?? []), HEADER] },
        ],
        backendRefs: [{ name: 'web-canary', port: 80, weight: 1 }],
      },
    ]);
    await traffic.annotate('abort', 'me');
    expect(rules(traffic)).toEqual([shop, health]);
  });

  it('are given up where the process dies before it has noted anything, and where pods of the version fail', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: { steps: 'header x-canary=always; approve' } });
    const { world } = traffic.lab;
    world.onEffect = () => {
      if (rules(traffic).length > 1) throw refusal(500);
    };
    await traffic.lab.image('app:2');
    for (let pass = 0; pass < 8; pass++) {
      await world.sync().catch(() => undefined);
      await traffic.follow();
    }
    expect(added(traffic)).toEqual([[HEADER]]);
    world.onEffect = () => undefined;
    await traffic.image(BROKEN_IMAGE);
    expect(added(traffic)).toEqual([]);
  });

  it('follow where the rule that they come from has changed', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: { steps: 'header x-canary=always; approve' } });
    await traffic.image('app:2');
    const [rule, own] = rules(traffic);
    if (!rule || !own) throw new Error('no rule');
    traffic.putRoute([{ ...rule, timeouts: { request: '7s' } }, own]);
    await traffic.rest();
    expect(rules(traffic)[1]?.timeouts).toEqual({ request: '7s' });
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval/);
  });

  it.each([
    [
      'a rule asks for the header itself',
      [
        {
          ...bothServices(),
          matches: [{ headers: [{ ...HEADER, type: 'Exact' as const, name: 'X-Canary' }] }],
        },
      ],
      'matches the header X-Canary itself',
    ],
    [
      'the route has no room',
      [bothServices(), ...Array.from({ length: 15 }, () => ({ backendRefs: [{ name: 'other' }] }))],
      'has no room for 1 more rules',
    ],
  ])('begin no rollout where %s', async (_case, given, why) => {
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: 'header x-canary=always; approve' },
      rules: given,
    });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
    expect(traffic.lab.condition('RolloutPolicy')).toContain(`RouteNotUsable`);
    expect(traffic.lab.condition('RolloutPolicy')).toContain(why);
  });
});

describe('copies of requests', () => {
  it('go to as many pods as their share, until the next step of their kind', async () => {
    const mirror = (percent: number) => ({
      type: 'RequestMirror',
      requestMirror: { backendRef: { group: '', kind: 'Service', name: 'web-canary', port: 80 }, percent },
    });
    const other = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'audit', port: 80 } } };
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: 'mirror 10%; approve; mirror 50%; approve; mirror 0%; weight 1%; approve' },
      rules: [{ ...bothServices(), filters: [other] }],
    });
    await traffic.image('app:2');
    expect(rules(traffic)[0]?.filters).toEqual([other, mirror(10)]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 1 });
    await traffic.annotate('approve', 'me');
    expect(rules(traffic)[0]?.filters).toEqual([other, mirror(50)]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 2 });
    await traffic.annotate('approve', 'me');
    expect(rules(traffic)).toEqual([{ ...bothServices(99, 1), filters: [other] }]);
  });
});

describe('users that met the new version', () => {
  it('stay on it by a cookie of that version while it has a share, and no longer', async () => {
    const policies = { steps: 'weight 20%; approve; weight 50%; approve', 'traffic-sticky': '1h' };
    const traffic = await TrafficLab.rolledOut({ policies });
    await traffic.image('app:2');
    const hash = traffic.service('web-canary')?.spec.selector?.['pod-template-hash'];
    const cookie = `rollkeeper-web=${hash}; Max-Age=3600; Path=/; HttpOnly`;
    const filter = {
      type: 'ResponseHeaderModifier',
      responseHeaderModifier: { add: [{ name: 'Set-Cookie', value: cookie }] },
    };
    expect(rules(traffic)[0]?.backendRefs?.map(({ filters }) => filters)).toEqual([undefined, [filter]]);
    expect(added(traffic)).toEqual([[{ ...COOKIE, value: `^(.*;\\s*)?rollkeeper-web=${hash}(\\s*;.*)?$` }]]);
    await traffic.annotate('approve', 'me');
    expect(traffic.weights()).toEqual([50, 50]);
    expect(added(traffic)).toHaveLength(1);
    await traffic.annotate('abort', 'me');
    expect(rules(traffic)).toEqual([bothServices(100, 0)]);
  });
});

describe('an old version that shrinks with its share', () => {
  const policies = {
    steps: '100%; weight 50%; approve; weight 75%; approve',
    'traffic-stable': 'dynamic',
    'traffic-drain': '5s',
  };

  it('has the pods that its share needs, once the routes have served that share for the drain time', async () => {
    const traffic = await TrafficLab.rolledOut({ policies });
    await traffic.image('app:2');
    expect(traffic.weights()).toEqual([50, 50]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(traffic.lab.world.requeueAfterMs, 'nothing else brings it back').toBe(5000);
    await traffic.seconds(7);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 2, 'app:2': 4 });
    await traffic.annotate('approve', 'me');
    await traffic.seconds(7);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 1, 'app:2': 4 });
    await traffic.annotate('approve', 'me');
    await traffic.seconds(9);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('keeps what the floor needs where the new version has fewer pods than its share', async () => {
    const steps = '1; weight 75%; approve';
    const traffic = await TrafficLab.rolledOut({ policies: { ...policies, steps } });
    await traffic.image('app:2');
    await traffic.seconds(7);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 3, 'app:2': 1 });
  });

  it.each([
    ['an abort', (traffic: TrafficLab) => traffic.lab.annotate('abort', 'me')],
    ['a third version', (traffic: TrafficLab) => traffic.lab.image('app:3')],
  ])('grows before its share does after %s', async (_case, change) => {
    const traffic = await TrafficLab.rolledOut({ policies });
    await traffic.image('app:2');
    await traffic.annotate('approve', 'me');
    await traffic.seconds(7);
    expect(traffic.lab.sizes).toMatchObject({ 'app:1': 1, 'app:2': 4 });
    const { world } = traffic.lab;
    const carried: boolean[] = [];
    world.onEffect = () => {
      const [stable = 0] = traffic.weights();
      const ready = traffic.podsBehind('web-stable').length;
      carried.push(stable <= Math.max(25, 25 * ready));
    };
    await change(traffic);
    await traffic.seconds(3);
    expect(carried).not.toContain(false);
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.lab.sizes).toMatchObject({ 'app:1': 4 });
  });

  it('grows before a step gives it a greater share again', async () => {
    const steps = '100%; weight 75%; approve; weight 25%; approve';
    const traffic = await TrafficLab.rolledOut({ policies: { ...policies, steps } });
    await traffic.image('app:2');
    await traffic.seconds(7);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 1, 'app:2': 4 });
    await traffic.annotate('approve', 'me');
    await traffic.seconds(2);
    expect(traffic.weights()).toEqual([75, 25]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 3, 'app:2': 4 });
  });
});
