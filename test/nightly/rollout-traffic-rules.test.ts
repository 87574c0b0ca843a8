import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GRPCRoute, HTTPRoute } from '../../examples/traffic/gateway/gateway-api.ts';
import { imageOf } from '../../examples/traffic/gateway/pod-servers.ts';
import { Event } from '../../src/machinery/kubernetes/index.js';
import { typeMeta } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { TrafficCluster } from '../e2e/support/traffic-cluster.js';
import type { TrafficWorld, TrafficWorldOptions } from '../e2e/support/traffic-world.js';
import { Definition } from '../e2e/support/traffic-world.js';

const REQUESTS = 200;
const CANARY = { 'x-canary': 'always' };

/** Real requests to pods behind a gateway, whose definitions are those of the Gateway API, in one process. */
describe('requests that a rollout leads for longer', () => {
  let lab: TrafficCluster;

  beforeAll(async () => {
    lab = await TrafficCluster.start();
  });
  afterEach(async () => {
    await lab.rest();
  });
  afterAll(async () => {
    await lab?.stop();
  });

  const start = (policies: TrafficWorldOptions['policies'], namespace?: string): Promise<TrafficWorld> =>
    lab.rolledOut({ policies }, namespace);

  it('stay with a user on the version that the user met, while it grows, and go back with an abort', async () => {
    const shop = await start({ steps: 'weight 20%; approve; weight 50%; approve', 'traffic-sticky': '1h' });
    await shop.setImage('web:2');
    await shop.says('WaitingForApproval Step 2 of 4');
    const cookies = new Set<string>();
    const users = shop.clientsWith({});
    for (let user = 0; user < 40; user++) {
      const { cookie, image } = await users.send();
      if (cookie !== undefined) cookies.add(cookie);
      expect(cookie !== undefined).toBe(image === 'web:2');
    }
    const [cookie = ''] = cookies;
    expect(cookies.size).toBe(1);
    const met = shop.clientsWith({ cookie: cookie.split(';')[0] ?? '' });
    expect((await met.burst(REQUESTS)).byImage).toEqual({ 'web:2': REQUESTS });
    await shop.annotate({ approve: 'alice' });
    await shop.says('WaitingForApproval Step 4 of 4');
    expect((await met.burst(REQUESTS)).byImage).toEqual({ 'web:2': REQUESTS });
    await shop.annotate({ abort: 'bob' });
    await shop.weigh('100/0');
    expect((await met.burst(REQUESTS)).byImage).toEqual({ 'web:1': REQUESTS });
    await shop.settledAt('web:1');
    expect(shop.all.failures).toEqual({});
  });

  it('are never lost where the old version shrinks with its share and grows again in an abort', async () => {
    const shop = await start({ steps: '100%; weight 67%; approve', 'traffic-stable': 'dynamic' });
    await shop.setImage('web:2');
    await waitFor(async () => (await shop.pods()).filter((pod) => imageOf(pod) === 'web:1').length === 1, {
      what: 'the old version to shrink',
    });
    await shop.annotate({ abort: 'bob' });
    await shop.settledAt('web:1');
    expect(shop.all.failures).toEqual({});
  });

  it('are calls of a method as well: those of a GRPCRoute have the share of the step and its header', async () => {
    const namespace = await lab.createNamespace();
    const host = `calls.${namespace}.local`;
    const backendRefs = [
      { name: 'web-stable', port: 80, weight: 100 },
      { name: 'web-canary', port: 80, weight: 0 },
    ];
    const matches = [{ method: { service: 'shop.Cart', method: 'Add' } }];
    await lab.client.create(GRPCRoute, {
      ...{ ...typeMeta(GRPCRoute), metadata: { namespace, name: 'cart' } },
      spec: { parentRefs: [{ name: 'web' }], hostnames: [host], rules: [{ matches, backendRefs }] },
    });
    const steps = 'header x-canary=always; approve; weight 50%; approve';
    const shop = await start({ steps, traffic: 'httproute/web, grpcroute/cart' }, namespace);
    const calls = shop.clientsWith({ host }, '/shop.Cart/Add');
    const canary = shop.clientsWith({ host, ...CANARY }, '/shop.Cart/Add');
    const others = shop.clientsWith({ host }, '/shop.Cart/Remove');
    await shop.setImage('web:2');
    await shop.says('WaitingForApproval Step 2 of 4');
    expect((await calls.burst(REQUESTS)).byImage).toEqual({ 'web:1': REQUESTS });
    expect((await canary.burst(REQUESTS)).byImage).toEqual({ 'web:2': REQUESTS });
    expect((await others.burst(10)).failures).toEqual({ '404 no route': 10 });
    await shop.annotate({ approve: 'alice' });
    await shop.says('WaitingForApproval Step 4 of 4');
    expect(Math.abs((await calls.burst(REQUESTS)).shareOf('web:2') - 0.5)).toBeLessThan(0.2);
    await shop.annotate({ abort: 'bob' });
    await shop.weigh('100/0');
    await shop.settledAt('web:1');
    expect((await canary.burst(REQUESTS)).byImage).toEqual({ 'web:1': REQUESTS });
    const { spec } = await lab.client.get(GRPCRoute, { namespace, name: 'cart' });
    expect(spec.rules).toHaveLength(1);
    expect(shop.all.failures).toEqual({});
  });

  it('are led by no rule where the definition of the kind knows no names of rules, and an Event says so', async () => {
    const shop = await start({ steps: 'header x-canary=always; approve' });
    const named =
      '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/rules/items/properties/name';
    const body = [{ op: 'remove', path: named }];
    await lab.client.patch(
      Definition,
      { name: 'httproutes.gateway.networking.k8s.io' },
      { type: 'json', body },
    );
    const isOld = async (): Promise<boolean> => {
      const route = { ...typeMeta(HTTPRoute), metadata: { namespace: shop.namespace, name: 'probe' } };
      const spec = { rules: [{ name: 'probe' }] };
      const probe = lab.client.create(
        HTTPRoute,
        { ...route, spec },
        { dryRun: true, fieldValidation: 'Strict' },
      );
      return probe.then(
        () => false,
        () => true,
      );
    };
    await waitFor(isOld, { what: 'the definition without names to be in force' });
    await shop.setImage('web:2');
    const refused = async (): Promise<boolean> => {
      const { items } = await lab.client.list<Event>(Event, { namespace: shop.namespace });
      return items.some(({ reason }) => reason === 'RouteRefused');
    };
    await waitFor(refused, { what: 'the Event RouteRefused', timeoutMs: 60_000 });
    expect(await shop.rules()).toHaveLength(1);
    expect(shop.all.byImage['web:2']).toBeUndefined();
    expect(shop.all.failures).toEqual({});
  });
});
