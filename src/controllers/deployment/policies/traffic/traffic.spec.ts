import { describe, expect, it } from 'vitest';
import { Pod } from '../../../../machinery/kubernetes/index.js';
import { P } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE, refusal } from '../../../../testing/rollout-world.js';
import { TrafficLab, bothServices } from './traffic-lab.fixture.js';

const STEPS = { steps: '1; weight 5%; approve; weight 50%; approve' };

describe('a rollout by the weights of a route', () => {
  it('makes two Services of its own, which both select the version that runs', async () => {
    const traffic = await TrafficLab.rolledOut();
    expect([traffic.selected('web-stable'), traffic.selected('web-canary')]).toEqual(['app:1', 'app:1']);
    expect(traffic.service('web-stable')).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Deployment', name: 'web' }] },
      spec: { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'web' } },
    });
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('gives shares step by step, while the old version stays whole, and takes it away when it has had none for a while', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 1 });
    expect(traffic.weights()).toEqual([95, 5]);
    expect([traffic.selected('web-stable'), traffic.selected('web-canary')]).toEqual(['app:1', 'app:2']);
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 3 of 5/);
    await traffic.annotate('approve', 'me');
    expect(traffic.weights()).toEqual([50, 50]);
    expect(traffic.lab.sizes, 'a size keeps its word').toEqual({ 'app:1': 4, 'app:2': 1 });
    await traffic.annotate('approve', 'me');
    expect(traffic.weights()).toEqual([0, 100]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForTraffic .* "web-stable" has no share/);
    await traffic.seconds(29);
    expect(traffic.lab.sizes, 'before the drain is over').toEqual({ 'app:1': 4, 'app:2': 4 });
    await traffic.seconds(3);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
    expect([traffic.selected('web-stable'), traffic.selected('web-canary')]).toEqual(['app:2', 'app:2']);
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.note('app:2')).toBeUndefined();
    expect(traffic.lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('serves the version that is ready if another one came before any pod of it was', async () => {
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: '1; weight 20%; approve' },
      replicas: 2,
      prepare: ({ lab }) => void (lab.world.breaks = () => true),
    });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 1, 'app:2': 1 });
    traffic.lab.world.breaks = () => false;
    await traffic.rest();
    expect(traffic.lab.sizes).toEqual({ 'app:1': 2, 'app:2': 1 });
    expect(traffic.weights()).toEqual([80, 20]);
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 3 of 3/);
  });

  it('has as many pods as its share where no size is given before', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: { steps: 'weight 30%; approve' } });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 2 });
    expect(traffic.weights()).toEqual([70, 30]);
  });

  it.each([['grows', 6] as const, ['shrinks', 2] as const])(
    'keeps the share of a version that %s, although its ReplicaSet counts no pods for a moment',
    async (_case, replicas) => {
      const traffic = await TrafficLab.rolledOut({ policies: { steps: 'weight 50%; approve' } });
      await traffic.image('app:2');
      expect(traffic.weights()).toEqual([50, 50]);
      traffic.lab.world.change(({ spec }) => void (spec.replicas = replicas));
      for (let pass = 0; pass < 4; pass++) {
        await traffic.lab.world.sync();
        expect(traffic.weights()).toEqual([50, 50]);
      }
      await traffic.rest();
      expect(traffic.weights()).toEqual([50, 50]);
      expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 2 of 2/);
    },
  );

  it('grows no further than its step when replicas grows', async () => {
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: '50%; weight 20%; approve; 100%' },
      replicas: 2,
    });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 2, 'app:2': 1 });
    traffic.lab.world.change(({ spec }) => void (spec.replicas = 4));
    await traffic.lab.world.sync();
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 2 });
    await traffic.rest();
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 2 });
  });

  it('goes back by one write of weights before any pod is touched', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.image('app:2');
    const before = traffic.lab.world.api.writes.length;
    await traffic.annotate('abort', 'me');
    const writes = traffic.lab.world.api.writes.slice(before);
    const weighed = writes.findIndex(({ type }) => type.resource === 'httproutes');
    const sized = writes.findIndex(
      ({ object, type }) =>
        type.resource === 'replicasets' && (object as { spec: { replicas: number } }).spec.replicas !== 4,
    );
    expect(weighed).toBeGreaterThanOrEqual(0);
    expect(writes.filter(({ type }) => type.resource === 'httproutes')).toHaveLength(1);
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.lab.sizes, 'until it has drained').toEqual({ 'app:1': 4, 'app:2': 1 });
    expect(sized === -1 || sized > weighed).toBe(true);
    await traffic.seconds(32);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
    expect(traffic.selected('web-canary')).toBe('app:1');
  });

  it('takes the share from a version whose pods are not ready any more, and gives it back', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.image('app:2');
    const [pod] = traffic.podsBehind('web-canary');
    if (!pod) throw new Error('no pod');
    await traffic.lab.world.api.delete(Pod, pod.metadata);
    for (const set of traffic.lab.world.replicaSets) await traffic.lab.world.syncReplicaSet(set);
    await traffic.lab.world.sync();
    expect(traffic.weights()).toEqual([100, 0]);
    await traffic.rest();
    expect(traffic.weights()).toEqual([95, 5]);
  });

  it('keeps the share of a version that grows', async () => {
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: '1; weight 20%; approve; 3; weight 50%' },
    });
    await traffic.image('app:2');
    const { world } = traffic.lab;
    world.change(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [`${P}approve`]: 'me' };
    });
    await world.sync();
    expect(traffic.lab.sizes['app:2']).toBe(3);
    await world.sync();
    expect(traffic.weights(), 'before its ReplicaSet reports the new size').toEqual([80, 20]);
    await traffic.rest();
    expect(traffic.weights()).toEqual([0, 100]);
  });

  it('takes weights for its own if the process dies after it has taken the share away', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.image('app:2');
    const { world } = traffic.lab;
    const [pod] = traffic.podsBehind('web-canary');
    if (!pod) throw new Error('no pod');
    await world.api.delete(Pod, pod.metadata);
    for (const set of world.replicaSets) await world.syncReplicaSet(set);
    world.onEffect = () => {
      if (traffic.weights()[1] === 0) throw refusal(500);
    };
    await world.sync().catch(() => undefined);
    expect(traffic.weights()).toEqual([100, 0]);
    world.onEffect = () => undefined;
    await traffic.rest();
    expect(traffic.weights()).toEqual([95, 5]);
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 3 of 5/);
  });

  it('gives no share to a version whose pods never become ready', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.image(BROKEN_IMAGE);
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.selected('web-canary')).toBe('app:1');
  });

  it('waits until the gateway serves what the route says, and until the Service has endpoints', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    traffic.hasEndpoints = false;
    await traffic.image('app:2');
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.lab.condition()).toMatch(
      /^Unknown WaitingForTraffic Service "web-canary" has no ready endpoint/,
    );
    traffic.hasEndpoints = true;
    traffic.isGatewayThere = false;
    await traffic.rest();
    expect(traffic.weights()).toEqual([95, 5]);
    expect(traffic.lab.condition()).toMatch(
      /^Unknown WaitingForTraffic HTTPRoute "web" is not served as it is: Gateway "gateway" has not seen its last change/,
    );
    traffic.isGatewayThere = true;
    await traffic.rest();
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval/);
  });

  it('keeps an approval that is given while the gateway does not serve the route, and uses it afterwards', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.image('app:2');
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 3 of 5/);
    traffic.isGatewayThere = false;
    traffic.edit(95, 5);
    await traffic.annotate('approve', 'me');
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForTraffic/);
    expect(traffic.lab.annotation('approve')).toBe('me');
    traffic.isGatewayThere = true;
    await traffic.rest();
    expect(traffic.lab.annotation('approve')).toBeUndefined();
    expect(traffic.weights()).toEqual([50, 50]);
    expect(traffic.lab.condition()).toMatch(/^Unknown WaitingForApproval Step 5 of 5/);
  });

  it('begins on no rule that keeps clients on a version although its weight is 0', async () => {
    const rule = { ...bothServices(), sessionPersistence: { sessionName: 'session' } };
    const traffic = await TrafficLab.rolledOut({ policies: STEPS, rules: [rule] });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
    expect(traffic.lab.condition('RolloutPolicy')).toContain(
      'RouteNotUsable rule 1 of HTTPRoute "web" has sessionPersistence',
    );
  });

  it('is held where another hand has changed the weights, until a person lets it continue', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: { steps: '1; weight 5%; wait 10m; weight 50%' } });
    await traffic.image('app:2');
    traffic.edit(100, 0);
    await traffic.rest();
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.lab.condition()).toMatch(
      /^Unknown WaitingForApproval Another hand has changed the weights/,
    );
    await traffic.annotate('approve', 'me');
    expect(traffic.weights()).toEqual([95, 5]);
    expect(traffic.lab.annotation('approve')).toBeUndefined();
  });

  it('leaves the share of other backends and all else of a rule as it is', async () => {
    const other = { name: 'legacy', port: 80, weight: 900 };
    const rule = { ...bothServices(), name: 'shop', timeouts: { request: '90s' } };
    const traffic = await TrafficLab.rolledOut({
      policies: STEPS,
      rules: [
        { name: 'health', backendRefs: [{ name: 'web-stable' }] },
        { ...rule, backendRefs: [...(rule.backendRefs ?? []), other] },
      ],
    });
    await traffic.image('app:2');
    expect(traffic.weights(1)).toEqual([95, 5, 900]);
    expect(traffic.weights(0)).toEqual([undefined]);
    expect(traffic.routes[0]?.spec.rules?.[1]).toMatchObject({ name: 'shop', timeouts: { request: '90s' } });
    await traffic.annotate('steps', undefined);
    await traffic.seconds(89);
    expect(traffic.lab.sizes, 'the longest timeout').toEqual({ 'app:1': 4, 'app:2': 4 });
    await traffic.seconds(4);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
  });

  it.each([
    ['is missing', 'httproute/other', 'HTTPRoute "other" does not exist'],
    ['has no such rule', 'httproute/web/shop', 'rule "shop" of HTTPRoute "web" does not name both Services'],
  ])('does not begin if the route %s, and says so', async (_case, route, message) => {
    const traffic = await TrafficLab.rolledOut({ policies: { ...STEPS, traffic: route } });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
    expect(traffic.lab.condition('RolloutPolicy')).toContain(`RouteNotUsable ${message}`);
    expect(traffic.lab.condition()).toContain(`The rollout is held: ${message}`);
  });

  it('moves no Service that selects pods of another workload', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS, services: ['web-stable', 'web-canary'] });
    expect(traffic.selected('web-stable')).toBe('app:1');
    traffic.putService('web-canary', { tier: 'other' });
    await traffic.image('app:2');
    expect(traffic.lab.condition('RolloutPolicy')).toContain(
      'ServiceNotUsable Service "web-canary" selects other pods',
    );
    expect(traffic.service('web-canary')?.spec.selector).toEqual({ tier: 'other' });
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('steers no route and no backend of another namespace', async () => {
    const there = { namespace: 'other', name: 'web-canary', port: 80 };
    const traffic = await TrafficLab.rolledOut({
      policies: STEPS,
      rules: [{ backendRefs: [{ name: 'web-stable', port: 80 }, there] }],
    });
    await traffic.image('app:2');
    expect(traffic.lab.condition()).toContain('no rule of HTTPRoute "web" names both Services');
    traffic.putRoute([bothServices()], 'theirs', 'other');
    await traffic.annotate('traffic', 'httproute/theirs');
    expect(traffic.lab.condition()).toContain('HTTPRoute "theirs" does not exist');
    expect(traffic.weights(0, 'theirs')).toEqual([100, 0]);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
    const touched = traffic.lab.world.api.writes.map(({ type }) => type.resource);
    expect(touched).not.toContain('httproutes');
    expect(touched).not.toContain('services');
  });

  it('takes no Service that selects pods of another Deployment as well', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS, services: ['web-stable', 'web-canary'] });
    traffic.putDeployment('zoo');
    traffic.putService('shop');
    const before = traffic.service('shop');
    await traffic.annotate('canary-service', 'shop');
    traffic.putRoute([
      {
        backendRefs: [
          { name: 'web-stable', port: 80 },
          { name: 'shop', port: 80 },
        ],
      },
    ]);
    await traffic.image('app:2');
    expect(traffic.lab.condition('RolloutPolicy')).toContain('selects pods of Deployment "zoo" as well');
    expect(traffic.service('shop')).toEqual(before);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('comes up whole beside the old version and moves at once, as blue-green does', async () => {
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: '100%; approve', 'traffic-drain': '5s' },
    });
    await traffic.image('app:2');
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(traffic.weights()).toEqual([100, 0]);
    await traffic.annotate('approve', 'me');
    expect(traffic.weights()).toEqual([0, 100]);
    await traffic.seconds(8);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('gives the share of a version that is left for a third back first', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: { ...STEPS, 'traffic-drain': '5s' } });
    await traffic.image('app:2');
    await traffic.image('app:3');
    expect(traffic.weights()).toEqual([100, 0]);
    expect(traffic.lab.sizes).toMatchObject({ 'app:1': 4, 'app:2': 1 });
    await traffic.seconds(8);
    expect(traffic.lab.sizes).toEqual({ 'app:1': 4, 'app:3': 1 });
    expect(traffic.weights()).toEqual([95, 5]);
  });

  it('lets go of its Services when it is not asked for any more', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: STEPS });
    await traffic.annotate('steps', undefined);
    await traffic.annotate('traffic', undefined);
    expect(traffic.service('web-stable')?.spec.selector).toEqual({ app: 'web' });
    expect(traffic.lab.condition('RolloutPolicy')).toBe('none');
  });
});
