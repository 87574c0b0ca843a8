import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GRPCRoute } from '../../examples/traffic/gateway/gateway-api.ts';
import { imageOf } from '../../examples/traffic/gateway/pod-servers.ts';
import { createDeploymentController } from '../../src/controllers/deployment/index.js';
import { Namespace, Service, typeMeta } from '../../src/runtime/index.js';
import type { DeepReadonly, Pod } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { TrafficWorldOptions } from '../e2e/support/traffic-world.js';
import { DEFINITIONS, TrafficWorld } from '../e2e/support/traffic-world.js';

const REQUESTS = 200;
const CANARY = { 'x-canary': 'always' };

/** Real requests to pods behind a gateway, whose definitions are those of the Gateway API, in one process. */
describe('requests that the rules of a rollout lead', () => {
  let cluster: TestCluster;
  let world: TrafficWorld | undefined;
  let count = 0;
  /** The paths that each image got, copies of requests too. */
  const received = new Map<string, string[]>();

  beforeAll(async () => {
    // The controllers start with the definitions: they wait for all kinds that they watch.
    const bare = { controllers: [], nodes: 0, scheduler: false } as const;
    await using defined = await startTestCluster({ ...bare, manifests: [{ file: DEFINITIONS }] });
    cluster = await startTestCluster({
      snapshot: await defined.snapshot(),
      controllers: ['*', '-deployment', createDeploymentController({ traffic: true })],
    });
  });
  afterEach(async () => {
    await world?.stop();
    world = undefined;
    received.clear();
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  function note(pod: DeepReadonly<Pod>, { url = '' }: IncomingMessage, response: ServerResponse): void {
    const image = imageOf(pod);
    received.set(image, [...(received.get(image) ?? []), url]);
    response.writeHead(200, { 'x-image': image }).end();
  }

  async function createNamespace(): Promise<string> {
    const name = `traffic-${++count}`;
    await cluster.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return name;
  }

  async function start(policies: TrafficWorldOptions['policies'], name?: string): Promise<TrafficWorld> {
    const namespace = name ?? (await createNamespace());
    const options = { policies: { 'traffic-drain': '1s', ...policies }, ratePerSecond: 50, answer: note };
    world = await TrafficWorld.start(cluster.client, namespace, options);
    await world.settledAt('web:1');
    return world;
  }

  it.each([
    ['header x-canary=always', CANARY, { 'x-canary': 'never' }],
    ['cookie canary=always', { cookie: 'a=b; canary=always; c=d' }, { cookie: 'a=b; xcanary=always' }],
  ])('with a %s always meet the canary and no others do, until an abort', async (step, own, other) => {
    const shop = await start({ steps: `${step}; approve; weight 50%; approve` });
    const [canary, others] = [shop.clientsWith(own), shop.clientsWith(other)];
    const both = async () => [await canary.burst(REQUESTS), await others.burst(REQUESTS)] as const;
    expect((await both()).map(({ byImage }) => byImage)).toEqual([
      { 'web:1': REQUESTS },
      { 'web:1': REQUESTS },
    ]);
    await shop.setImage('web:2');
    await shop.says('WaitingForApproval Step 2 of 4');
    expect((await both()).map(({ byImage }) => byImage)).toEqual([
      { 'web:2': REQUESTS },
      { 'web:1': REQUESTS },
    ]);
    await shop.annotate({ approve: 'alice' });
    await shop.says('WaitingForApproval Step 4 of 4');
    const [stays, drawn] = await both();
    expect(stays.byImage).toEqual({ 'web:2': REQUESTS });
    expect(Math.abs(drawn.shareOf('web:2') - 0.5)).toBeLessThan(0.1);
    await shop.annotate({ abort: 'bob' });
    await shop.weigh('100/0');
    expect((await both()).map(({ byImage }) => byImage)).toEqual([
      { 'web:1': REQUESTS },
      { 'web:1': REQUESTS },
    ]);
    await shop.settledAt('web:1');
    expect(await shop.rules()).toHaveLength(1);
    expect(shop.all.failures).toEqual({});
  });

  it('are copied to the new version, which answers none of them', async () => {
    const shop = await start({ steps: 'mirror 10%; approve; mirror 0%; approve' });
    await shop.setImage('web:2');
    await shop.says('WaitingForApproval Step 2 of 4');
    const clients = shop.clientsWith({});
    const tally = shop.traffic.load.count();
    const before = received.get('web:2')?.length ?? 0;
    const burst = await clients.burst(2000);
    shop.traffic.load.forget(tally);
    expect(burst.byImage).toEqual({ 'web:1': 2000 });
    expect(tally.byImage['web:2']).toBeUndefined();
    const expected = (2000 + tally.answered) / 10;
    await waitFor(() => Promise.resolve((received.get('web:2')?.length ?? 0) - before > expected - 30), {
      what: 'the copies to arrive',
    });
    expect(Math.abs((received.get('web:2')?.length ?? 0) - before - expected)).toBeLessThan(40);
    await shop.annotate({ approve: 'alice' });
    await shop.says('WaitingForApproval Step 4 of 4');
    const copied = received.get('web:2')?.length;
    await clients.burst(REQUESTS);
    expect(received.get('web:2')).toHaveLength(copied ?? 0);
    await shop.annotate({ approve: 'alice' });
    await shop.settledAt('web:2');
    expect((await shop.rules())[0]?.filters).toBeUndefined();
    expect(shop.all.failures).toEqual({});
  });

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
    const namespace = await createNamespace();
    const host = `calls.${namespace}.local`;
    const backendRefs = [
      { name: 'web-stable', port: 80, weight: 100 },
      { name: 'web-canary', port: 80, weight: 0 },
    ];
    const matches = [{ method: { service: 'shop.Cart', method: 'Add' } }];
    await cluster.client.create(GRPCRoute, {
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
    expect(Math.abs((await calls.burst(REQUESTS)).shareOf('web:2') - 0.5)).toBeLessThan(0.1);
    await shop.annotate({ abort: 'bob' });
    await shop.weigh('100/0');
    await shop.settledAt('web:1');
    expect((await canary.burst(REQUESTS)).byImage).toEqual({ 'web:1': REQUESTS });
    const { spec } = await cluster.client.get(GRPCRoute, { namespace, name: 'cart' });
    expect(spec.rules).toHaveLength(1);
    expect(shop.all.failures).toEqual({});
  });

  it('are led by no Deployment to a Service, nor by a route, that is not its own', async () => {
    const shop = await start({ steps: 'header x-canary=always; approve' });
    const { namespace } = shop;
    const victim = await cluster.client.create(Service, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'victim' } },
      spec: { selector: { app: 'other' }, ports: [{ port: 80 }] },
    });
    await shop.annotate({ 'canary-service': 'victim' });
    await shop.setImage('web:2');
    await shop.says('RolloutHeld');
    await shop.annotate({ 'canary-service': null, traffic: 'httproute/none' });
    await shop.says('HTTPRoute "none" does not exist');
    expect(await cluster.client.get(Service, victim.metadata)).toEqual(victim);
    expect(await shop.rules()).toHaveLength(1);
    expect(shop.all.byImage['web:2']).toBeUndefined();
  });
});
