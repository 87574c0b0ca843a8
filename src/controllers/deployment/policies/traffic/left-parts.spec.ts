import { describe, expect, it } from 'vitest';
import { Deployment } from '../../../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../../../testing/fake-cluster.js';
import { refusal } from '../../../../testing/rollout-world.js';
import { runController } from '../../../../testing/run-controller.js';
import type { FullRule, Route } from './route-part.js';
import { HTTPRoute } from './routes.js';
import { STEERING, TrafficLab, bothServices, type TrafficShape } from './traffic-lab.fixture.js';

const MARK = 'rollkeeper.dev/steered-by';
const SERVICES = ['web-stable', 'web-canary'];
const EVERYTHING = {
  steps: 'header x-canary=always; mirror 10%; weight 50%; approve',
  'traffic-sticky': '1h',
};

const health = { name: 'health', backendRefs: [{ name: 'web-stable' }] };

/** A rollout that waits at its last step, behind a route with a rule of another hand. */
async function inTheMiddle(shape: TrafficShape = {}): Promise<TrafficLab> {
  const rules = [bothServices(), health];
  const traffic = await TrafficLab.rolledOut({ policies: EVERYTHING, rules, services: SERVICES, ...shape });
  await traffic.image('app:2');
  return traffic;
}

function routeOf(traffic: TrafficLab, name = 'web'): Route {
  const found = traffic.routes.find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`no route ${name}`);
  return found;
}

function rulesOf(traffic: TrafficLab, name?: string): readonly FullRule[] {
  return routeOf(traffic, name).spec.rules ?? [];
}

function noteOf(traffic: TrafficLab, name?: string): unknown {
  const text = routeOf(traffic, name).metadata.annotations?.[MARK];
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

function annotateRoute(traffic: TrafficLab, annotations: Record<string, string>): void {
  const route = routeOf(traffic);
  const metadata = { ...route.metadata, annotations: { ...route.metadata.annotations, ...annotations } };
  traffic.lab.world.api.seed<Route>(HTTPRoute, { ...route, metadata });
}

/** The pods end with their Deployment, or stay without it (`--cascade=orphan`). */
async function deleteDeployment(traffic: TrafficLab): Promise<() => Promise<void>> {
  const { metadata } = traffic.lab.deployment;
  await traffic.lab.world.api.delete(Deployment, metadata);
  return () => traffic.lab.world.sync(metadata).then(() => traffic.follow());
}

/** Whether each backend of a rule with a weight has a pod that is ready, or none has. */
function leadsToPods(traffic: TrafficLab): boolean {
  const ready = (name: string) =>
    traffic
      .podsBehind(name)
      .some(({ status }) =>
        status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True'),
      );
  const [stable, canary] = traffic.weights();
  const [isStableReady, isCanaryReady] = [ready('web-stable'), ready('web-canary')];
  if (!isStableReady && !isCanaryReady) return true;
  return (!stable || isStableReady) && (!canary || isCanaryReady);
}

describe('a route', () => {
  it('names the Deployment that leads its requests while it does, beside annotations of others', async () => {
    const policies = { steps: 'weight 20%; approve', 'traffic-drain': '1s' };
    const traffic = await TrafficLab.rolledOut({ policies });
    annotateRoute(traffic, { team: 'shop' });
    expect(noteOf(traffic)).toBeUndefined();
    await traffic.image('app:2');
    expect(noteOf(traffic)).toEqual({ web: { stable: 'web-stable', canary: 'web-canary' } });
    annotateRoute(traffic, { [MARK]: JSON.stringify({ web: noteOf(traffic), ...other('api') }) });
    await traffic.annotate('approve', 'me');
    await traffic.seconds(4);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
    expect(noteOf(traffic)).toEqual(other('api'));
    expect(routeOf(traffic).metadata.annotations).toMatchObject({ team: 'shop' });
  });

  it('has no note after an abort, nor after a rollout alone with its note', async () => {
    const traffic = await TrafficLab.rolledOut({ policies: { steps: 'header x-canary=always; approve' } });
    await traffic.image('app:2');
    expect(noteOf(traffic)).toBeDefined();
    await traffic.annotate('abort', 'me');
    expect(routeOf(traffic).metadata.annotations ?? {}).toEqual({});
  });
});

function other(deployment: string): Record<string, unknown> {
  return { [deployment]: { stable: `${deployment}-stable`, canary: `${deployment}-canary` } };
}

describe('a Deployment that asks for no traffic any more in the middle', () => {
  it('takes back rules, weights, copies and cookies, and then lets its Services select all pods', async () => {
    const traffic = await inTheMiddle();
    expect(rulesOf(traffic)).toHaveLength(3);
    const seen: boolean[] = [];
    traffic.onChange = () => void seen.push(leadsToPods(traffic));
    traffic.lab.world.change(({ metadata }) => (metadata.annotations = {}));
    await traffic.rest();
    expect(rulesOf(traffic)).toEqual([bothServices(100, 0), health]);
    expect(routeOf(traffic).metadata.annotations ?? {}).toEqual({});
    expect(traffic.service('web-canary')?.spec.selector).toEqual({ app: 'web' });
    expect(seen).not.toContain(false);
    expect(traffic.lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('gives requests back to the stable Service only when that has a ready endpoint', async () => {
    const traffic = await inTheMiddle();
    traffic.hasEndpoints = false;
    traffic.emptyEndpoints('web-stable');
    traffic.lab.world.change(({ metadata }) => (metadata.annotations = {}));
    await traffic.rest();
    expect(traffic.weights()).toEqual([50, 50]);
    expect(rulesOf(traffic), 'copies and added rules go at once').toHaveLength(2);
    expect(traffic.service('web-stable')?.spec.selector).toEqual({ app: 'web' });
    expect(traffic.lab.world.requeueAfterMs).toBeLessThanOrEqual(2000);
    traffic.hasEndpoints = true;
    await traffic.seconds(2);
    expect(rulesOf(traffic)).toEqual([bothServices(100, 0), health]);
    expect(noteOf(traffic)).toBeUndefined();
  });

  it('takes it back from a route that its list does not name any more, and goes on with the others', async () => {
    const policies = { traffic: 'httproute/web, httproute/shop', steps: 'weight 20%; approve' };
    const traffic = await TrafficLab.rolledOut({
      policies,
      prepare: (lab) => lab.putRoute([bothServices()], 'shop'),
    });
    await traffic.image('app:2');
    expect([traffic.weights(0, 'web'), traffic.weights(0, 'shop')]).toEqual([
      [80, 20],
      [80, 20],
    ]);
    await traffic.annotate('traffic', 'httproute/web');
    expect([traffic.weights(0, 'web'), traffic.weights(0, 'shop')]).toEqual([
      [80, 20],
      [100, 0],
    ]);
    expect([noteOf(traffic), noteOf(traffic, 'shop')]).toMatchObject([{ web: {} }, undefined]);
  });

  it('takes it back from a rule that is not named any more, and never touches it again', async () => {
    const rules = [
      { ...bothServices(), name: 'a' },
      { ...bothServices(), name: 'b' },
    ];
    const traffic = await TrafficLab.rolledOut({ policies: { steps: 'weight 20%; approve' }, rules });
    await traffic.image('app:2');
    expect([traffic.weights(0), traffic.weights(1)]).toEqual([
      [80, 20],
      [80, 20],
    ]);
    await traffic.annotate('traffic', 'httproute/web/a');
    expect([traffic.weights(0), traffic.weights(1)]).toEqual([
      [80, 20],
      [100, 0],
    ]);
    const [a, b] = rulesOf(traffic);
    if (!a || !b) throw new Error('no rules');
    traffic.putRoute([a, { ...bothServices(70, 30), name: 'b' }]);
    await traffic.rest();
    expect(traffic.weights(1), 'another hand has it now').toEqual([70, 30]);
  });
});

describe('a Deployment that is deleted in the middle', () => {
  it('leaves nothing in its route, and its Services select all pods', async () => {
    const traffic = await inTheMiddle();
    const sync = await deleteDeployment(traffic);
    await sync();
    expect(rulesOf(traffic)).toEqual([bothServices(100, 0), health]);
    expect(routeOf(traffic).metadata.annotations ?? {}).toEqual({});
    expect(traffic.service('web-canary')?.spec.selector).toEqual({ app: 'web' });
    expect(traffic.lab.eventsOf('TrafficWeight').at(-1)).toContain('Deployment default/web was deleted');
  });

  it('leaves nothing in its route where its Services have gone with it', async () => {
    const traffic = await inTheMiddle();
    for (const name of SERVICES) await traffic.deleteService(name);
    const sync = await deleteDeployment(traffic);
    await sync();
    expect(rulesOf(traffic)).toEqual([bothServices(100, 0), health]);
    expect(noteOf(traffic)).toBeUndefined();
  });

  it('gives the requests of pods that stay without it back only to pods that are ready', async () => {
    const traffic = await inTheMiddle();
    traffic.hasEndpoints = false;
    traffic.emptyEndpoints('web-stable');
    const sync = await deleteDeployment(traffic);
    await sync();
    expect(traffic.weights()).toEqual([50, 50]);
    expect(traffic.lab.world.requeueAfterMs).toBe(2000);
    traffic.hasEndpoints = true;
    await traffic.follow();
    await sync();
    expect(traffic.weights()).toEqual([100, 0]);
    expect(noteOf(traffic)).toBeUndefined();
  });

  it('leaves nothing where the process dies after any of the writes', async () => {
    for (let crash = 1; crash <= 4; crash++) {
      const traffic = await inTheMiddle();
      const sync = await deleteDeployment(traffic);
      let writes = 0;
      traffic.lab.world.onEffect = () => {
        writes += 1;
        if (writes === crash) throw refusal(500);
      };
      await sync().catch(() => undefined);
      traffic.lab.world.onEffect = () => undefined;
      await traffic.follow();
      await sync();
      expect(rulesOf(traffic)).toEqual([bothServices(100, 0), health]);
      expect(traffic.service('web-stable')?.spec.selector).toEqual({ app: 'web' });
      expect(noteOf(traffic)).toBeUndefined();
    }
  });

  it('leaves the note and the rules of other Deployments, and what no note speaks of', async () => {
    const traffic = await inTheMiddle({
      rules: [bothServices(), { ...bothServices(70, 30), name: 'mine' }],
      policies: { traffic: 'httproute/web/shared', steps: 'weight 20%; approve' },
    });
    traffic.putRoute([
      { ...bothServices(80, 20), name: 'shared' },
      { ...bothServices(70, 30), name: 'mine' },
    ]);
    const note = { web: { ...(other('web')['web'] as object), rules: ['shared'] }, ...other('api') };
    annotateRoute(traffic, { [MARK]: JSON.stringify(note) });
    const sync = await deleteDeployment(traffic);
    await sync();
    expect([traffic.weights(0), traffic.weights(1)]).toEqual([
      [100, 0],
      [70, 30],
    ]);
    expect(noteOf(traffic)).toEqual(other('api'));
  });

  it('is not taken for deleted where one of its name exists again, which takes over', async () => {
    const traffic = await inTheMiddle();
    const { deployment, world } = traffic.lab;
    await world.api.delete(Deployment, deployment.metadata);
    traffic.putDeployment('web');
    await traffic.lab.rest();
    await traffic.rest();
    expect(rulesOf(traffic)).toEqual([bothServices(100, 0), health]);
    expect(noteOf(traffic)).toBeUndefined();
  });

  it.each([
    ['names it', { [MARK]: JSON.stringify(other('web')) }, undefined],
    ['has a rule of it', undefined, { name: 'rollkeeper.web.1', backendRefs: [{ name: 'web-canary' }] }],
  ])(
    'while no controller ran is found by the next one where a route %s',
    async (_case, annotations, rule) => {
      const cluster = new FakeCluster();
      const metadata = { namespace: 'default', name: 'shop', annotations };
      cluster.seed<Route>(HTTPRoute, {
        ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata },
        spec: { rules: [bothServices(), ...(rule ? [rule] : [])] },
      });
      const controller = runController(STEERING, cluster);
      await controller.drain();
      const summary = expect.stringContaining('HTTPRoute "shop" leads no requests for it any more') as string;
      expect(controller.decisions).toMatchObject([{ branch: 'deleted', summary }]);
    },
  );

  it.each([
    'no JSON',
    '[]',
    '{"../x":{"stable":"a","canary":"b"}}',
    '{"web":{"stable":"A/B","canary":"b"}}',
    '{"web":7}',
  ])('is not made out of a note that says %s', async (note) => {
    const cluster = new FakeCluster();
    const metadata = { namespace: 'default', name: 'shop', annotations: { [MARK]: note } };
    cluster.seed<Route>(HTTPRoute, {
      ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata },
      spec: { rules: [bothServices(50, 50)] },
    });
    const controller = runController(STEERING, cluster);
    const { errors } = await controller.drain();
    expect([...errors.values()]).toEqual([]);
    expect(controller.decisions).toEqual([]);
  });
});
