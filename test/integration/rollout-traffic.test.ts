import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Service } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { TrafficCluster } from '../e2e/support/traffic-cluster.js';
import type { TrafficWorld, TrafficWorldOptions } from '../e2e/support/traffic-world.js';

const REQUESTS = 200;
const CANARY = { 'x-canary': 'always' };

/** Real requests to pods behind a gateway, whose definitions are those of the Gateway API, in one process. */
describe('requests that the rules of a rollout lead', () => {
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
    expect(Math.abs(drawn.shareOf('web:2') - 0.5)).toBeLessThan(0.2);
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
    const before = lab.received.get('web:2')?.length ?? 0;
    const burst = await clients.burst(2000);
    shop.traffic.load.forget(tally);
    expect(burst.byImage).toEqual({ 'web:1': 2000 });
    expect(tally.byImage['web:2']).toBeUndefined();
    const expected = (2000 + tally.answered) / 10;
    await waitFor(() => Promise.resolve((lab.received.get('web:2')?.length ?? 0) - before > expected - 30), {
      what: 'the copies to arrive',
    });
    expect(Math.abs((lab.received.get('web:2')?.length ?? 0) - before - expected)).toBeLessThan(40);
    await shop.annotate({ approve: 'alice' });
    await shop.says('WaitingForApproval Step 4 of 4');
    const copied = lab.received.get('web:2')?.length;
    await clients.burst(REQUESTS);
    expect(lab.received.get('web:2')).toHaveLength(copied ?? 0);
    await shop.annotate({ approve: 'alice' });
    await shop.settledAt('web:2');
    expect((await shop.rules())[0]?.filters).toBeUndefined();
    expect(shop.all.failures).toEqual({});
  });

  it('are led by no Deployment to a Service, nor by a route, that is not its own', async () => {
    const shop = await start({ steps: 'header x-canary=always; approve' });
    const { namespace } = shop;
    const victim = await lab.client.create(Service, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'victim' } },
      spec: { selector: { app: 'other' }, ports: [{ port: 80 }] },
    });
    await shop.annotate({ 'canary-service': 'victim' });
    await shop.setImage('web:2');
    await shop.says('RolloutHeld');
    await shop.annotate({ 'canary-service': null, traffic: 'httproute/none' });
    await shop.says('HTTPRoute "none" does not exist');
    expect(await lab.client.get(Service, victim.metadata)).toEqual(victim);
    expect(await shop.rules()).toHaveLength(1);
    expect(shop.all.byImage['web:2']).toBeUndefined();
  });
});
