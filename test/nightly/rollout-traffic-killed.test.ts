import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HTTPRoute } from '../../examples/traffic/gateway/gateway-api.ts';
import type { ConstantLoad } from '../../examples/traffic/load/constant-load.ts';
import type { Tally } from '../../examples/traffic/load/tally.ts';
import { Namespace, ReplicaSet, Service } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { TrafficWorld } from '../e2e/support/traffic-world.js';
import { PolicyUp } from './support/policy-up.js';

const HEADER = 'headers=x-canary';
const COOKIE = 'headers=Cookie';
const COPIES = 'copies';

interface Led {
  readonly parts: readonly string[];
  readonly weights: string;
}

/** The steps in their order, each with the parts of the route by which it is seen. */
const STEPS: readonly (Led & { readonly step: string })[] = [
  { step: 'header x-canary=always', parts: [HEADER], weights: '100/0' },
  { step: 'cookie who=tester', parts: [HEADER, COOKIE], weights: '100/0' },
  { step: 'mirror 20%', parts: [HEADER, COOKIE, COPIES], weights: '100/0' },
  { step: 'weight 20%', parts: [HEADER, COOKIE, COPIES], weights: '80/20' },
  { step: 'header off', parts: [COOKIE, COPIES], weights: '80/20' },
  { step: 'mirror 0%', parts: [COOKIE], weights: '80/20' },
  { step: 'weight 50%', parts: [COOKIE], weights: '50/50' },
];
const stepsWith = (pause: string): string => STEPS.map(({ step }) => `${step}; ${pause}`).join('; ');
const NOTHING = '100/0';

describe.skipIf(!anyKubectl())('requests that a rollout leads beside weights, with real processes', () => {
  let lab: PolicyUp;
  let world: TrafficWorld | undefined;
  let clients: { readonly load: ConstantLoad; readonly tally: Tally }[] = [];
  let count = 0;

  beforeAll(async () => {
    lab = await PolicyUp.start();
  });
  afterEach(async () => {
    await Promise.all(clients.map(({ load }) => load.stop()));
    clients = [];
    await world?.stop();
    world = undefined;
  });
  afterAll(async () => {
    await lab.stop();
  });

  /** Rolled out at `web:1`, under requests without a header, with one, and with a cookie. */
  async function start(steps: string): Promise<TrafficWorld> {
    const name = `led-${++count}`;
    await lab.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const policies = { steps, 'traffic-drain': '1s' };
    world = await TrafficWorld.start(lab.client, name, { policies, ratePerSecond: 50 });
    await world.settledAt('web:1');
    const kinds: readonly Record<string, string>[] = [
      { 'x-canary': 'always' },
      { cookie: 'a=b; who=tester' },
    ];
    for (const headers of kinds) {
      const load = world.clientsWith(headers, '/', 25);
      clients.push({ load, tally: load.count() });
      load.start();
    }
    return world;
  }

  function expectNoFailure(shop: TrafficWorld): void {
    for (const tally of [shop.all, ...clients.map((client) => client.tally)]) {
      expect(tally.answered).toBeGreaterThan(0);
      expect(tally.failures).toEqual({});
    }
  }

  /** The weights, and the parts that a rollout has added. */
  async function ledBy(shop: TrafficWorld): Promise<string> {
    const [rule, ...added] = await shop.rules();
    const headers = added.flatMap(({ matches = [] }) =>
      matches.flatMap((match) => (match.headers ?? []).map(({ name }) => `headers=${name}`)),
    );
    const copies = (rule?.filters ?? []).some(({ type }) => type === 'RequestMirror') ? [COPIES] : [];
    return [await shop.weights(), ...headers, ...copies].join(' ');
  }

  async function leads(shop: TrafficWorld, { parts, weights }: Led): Promise<void> {
    await becomes(shop, [weights, ...parts].join(' '));
    await shop.weigh(weights);
  }

  async function becomes(shop: TrafficWorld, wanted: string): Promise<void> {
    let last = '';
    await waitFor(async () => (last = await ledBy(shop)) === wanted, {
      ...{ what: `the route to be ${wanted} and not ${last}`, intervalMs: 20, timeoutMs: 90_000 },
    });
  }

  async function noteOf({ ref }: TrafficWorld): Promise<string | undefined> {
    const { metadata } = await lab.client.get(HTTPRoute, ref);
    return metadata.annotations?.['rollkeeper.dev/steered-by'];
  }

  it('are never lost where the leader is killed at every step of a promotion', async () => {
    const shop = await start(stepsWith('wait 2s'));
    await shop.setImage('web:2');
    for (const step of STEPS) {
      await leads(shop, step);
      await lab.killLeader();
    }
    await becomes(shop, '0/100');
    await lab.killLeader();
    await becomes(shop, NOTHING);
    await lab.killLeader();
    await shop.settledAt('web:2');
    expectNoFailure(shop);
    expect(await noteOf(shop)).toBeUndefined();
  }, 300_000);

  it.each(STEPS.map(({ step }, index) => [step, index] as const))(
    'are never lost in an abort at the step "%s" in which the leader is killed',
    async (_step, index) => {
      const shop = await start(stepsWith('approve'));
      await shop.setImage('web:2');
      for (const [at, step] of STEPS.slice(0, index + 1).entries()) {
        await leads(shop, step);
        await shop.says('WaitingForApproval');
        if (at < index) await shop.annotate({ approve: 'alice' });
      }
      await shop.annotate({ abort: 'bob' });
      await lab.killLeader();
      await becomes(shop, NOTHING);
      await shop.settledAt('web:1');
      expectNoFailure(shop);
      expect(await noteOf(shop)).toBeUndefined();
    },
    180_000,
  );

  it('are led by nothing any more where the annotation is taken away in the middle and the leader is killed', async () => {
    const shop = await start('header x-canary=always; cookie who=tester; mirror 20%; weight 50%; approve');
    await shop.setImage('web:2');
    await leads(shop, { parts: [HEADER, COOKIE, COPIES], weights: '50/50' });
    expect(await noteOf(shop)).toContain('web-canary');
    await shop.annotate({ traffic: null, steps: null, 'traffic-drain': null });
    await lab.killLeader();
    await becomes(shop, NOTHING);
    await waitFor(async () => (await noteOf(shop)) === undefined, { what: 'no note on the route' });
    await shop.settledAt('web:2');
    const service = await lab.client.get<Service>(Service, { ...shop.ref, name: 'web-canary' });
    expect(service.spec.selector).toEqual({ app: 'web' });
    expectNoFailure(shop);
  });

  it('are led by nothing any more where the Deployment is deleted and its pods stay', async () => {
    const shop = await start('header x-canary=always; cookie who=tester; mirror 20%; weight 50%; approve');
    await shop.setImage('web:2');
    await leads(shop, { parts: [HEADER, COOKIE, COPIES], weights: '50/50' });
    const { namespace } = shop;
    const deleted = await lab.kubectl('-n', namespace, 'delete', 'deployment/web', '--cascade=orphan');
    expect(deleted.code, deleted.stderr).toBe(0);
    await lab.killLeader();
    await becomes(shop, NOTHING);
    await waitFor(async () => (await noteOf(shop)) === undefined, { what: 'no note on the route' });
    const sets = await lab.client.list<ReplicaSet>(ReplicaSet, { namespace });
    expect(sets.items).toHaveLength(2);
    const tally = await shop.traffic.load.burst(500);
    expect(Object.keys(tally.byImage).sort()).toEqual(['web:1', 'web:2']);
    expectNoFailure(shop);
  });

  it('are led by nothing any more where the Deployment is deleted with its pods', async () => {
    const shop = await start('header x-canary=always; mirror 20%; weight 50%; approve');
    await shop.setImage('web:2');
    await leads(shop, { parts: [HEADER, COPIES], weights: '50/50' });
    const { namespace } = shop;
    expect((await lab.kubectl('-n', namespace, 'delete', 'deployment/web')).code).toBe(0);
    await lab.killLeader();
    await becomes(shop, NOTHING);
    await waitFor(async () => (await noteOf(shop)) === undefined, { what: 'no note on the route' });
    await waitFor(async () => (await shop.pods()).length === 0, { what: 'no pods' });
  });
});
