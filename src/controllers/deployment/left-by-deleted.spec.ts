import { describe, expect, it } from 'vitest';
import { Deployment } from '../../machinery/kubernetes/index.js';
import type { Route } from './policies/traffic/route-part.js';
import { HTTPRoute } from './policies/traffic/routes.js';
import { TrafficLab, bothServices } from './policies/traffic/traffic-lab.fixture.js';

const WEB = { namespace: 'default', name: 'web' };

/** Another hand adds a rule with the name of those that a rollout adds. */
function addRule(traffic: TrafficLab): void {
  const added = { name: 'rollkeeper.web.1', backendRefs: [{ name: 'web-canary' }] };
  const [route] = traffic.routes;
  if (!route) throw new Error('there is no route');
  const rules = [...(route.spec.rules ?? []), added];
  traffic.lab.world.api.seed<Route>(HTTPRoute, { ...route, spec: { ...route.spec, rules } });
}

describe('the rest of a deleted Deployment in a route', () => {
  it('has its endpoints looked for ever more rarely where none come, and soon again after a change', async () => {
    const traffic = await TrafficLab.rolledOut({
      policies: { steps: 'weight 50%; approve' },
      rules: [bothServices()],
      services: ['web-stable', 'web-canary'],
    });
    await traffic.image('app:2');
    traffic.hasEndpoints = false;
    traffic.emptyEndpoints('web-stable');
    await traffic.lab.world.api.delete(Deployment, traffic.lab.deployment.metadata);
    const waits: (number | undefined)[] = [];
    const { world } = traffic.lab;
    for (let look = 0; look < 9; look++) {
      await world.sync(WEB);
      waits.push(world.requeueAfterMs);
      traffic.lab.clock.move(world.requeueAfterMs ?? 0);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 120, 120, 120].map((seconds) => seconds * 1000));
    expect(traffic.weights()).toEqual([50, 50]);
    addRule(traffic);
    await world.sync(WEB);
    expect(world.requeueAfterMs).toBe(2000);
    traffic.hasEndpoints = true;
    await traffic.follow();
    await world.sync(WEB);
    expect(traffic.weights()).toEqual([100, 0]);
    expect(world.requeueAfterMs).toBeUndefined();
  });
});
