import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../client/api-client/index.js';
import type { FakeClock } from '../../../machinery/clock/index.js';
import { anAdminPorts } from './admin-ports.fixture.js';
import { CallerSights } from './caller-sights.js';
import type { FeedEvent } from './feed-events.js';
import { seeing } from './seen-answers.js';

interface Asked {
  readonly spec: { readonly resourceAttributes: { readonly namespace: string } };
}

describe('the rollouts that a user of the cluster sees', () => {
  let clock: FakeClock;
  let sights: CallerSights;
  let asked: string[];
  let allowed: ReadonlySet<string>;
  let client: ApiClient;

  beforeEach(() => {
    const ports = anAdminPorts();
    ({ clock } = ports);
    sights = new CallerSights(ports);
    asked = [];
    allowed = new Set(['shop']);
    client = {
      create: async (_type: unknown, { spec }: Asked) => {
        const { namespace } = spec.resourceAttributes;
        asked.push(namespace);
        return { status: { allowed: allowed.has(namespace) } };
      },
    } as unknown as ApiClient;
  });

  const team = () => ({ client, user: 'team' });

  it('is all for holders of the admin token and on this machine, and nothing is asked', async () => {
    expect(await sights.of({ client }).sees('secret')).toBe(true);
    expect(asked).toEqual([]);
  });

  it('are the namespaces whose Deployments they may list', async () => {
    expect(await sights.of(team()).sees('shop')).toBe(true);
    expect(await sights.of(team()).sees('secret')).toBe(false);
    await expect(sights.assertSees(team(), 'secret')).rejects.toThrow();
    // Objects of the cluster are for those who see all.
    expect(await sights.of(team()).sees('')).toBe(false);
    allowed = new Set(['']);
    await clock.advance(30_000);
    for (const namespace of ['secret', '']) expect(await sights.of(team()).sees(namespace)).toBe(true);
  });

  it('is asked about once in thirty seconds, and a right that was taken away ends then', async () => {
    await Promise.all([sights.of(team()).sees('shop'), sights.of(team()).sees('shop')]);
    expect(asked).toEqual(['', 'shop']);
    allowed = new Set();
    await clock.advance(29_999);
    expect(await sights.of(team()).sees('shop')).toBe(true);
    await clock.advance(1);
    expect(await sights.of(team()).sees('shop')).toBe(false);
  });

  it('is nothing while the API does not answer, and that is not remembered', async () => {
    let isAway = true;
    client = {
      create: () =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve({ status: { allowed: true } }),
    } as unknown as ApiClient;
    const sight = sights.of(team());
    expect(await sight.sees('shop')).toBe(false);
    isAway = false;
    expect(await sight.sees('shop')).toBe(true);
  });

  it('is what the feed has for them, in its order', async () => {
    const events: FeedEvent[] = [];
    const viewer = seeing(
      { send: (event) => void events.push(event), drained: async () => undefined },
      sights.of(team()),
    );
    const keys = ['shop/web', 'secret/web', 'node-1'];
    const things = keys.map((key) => ({ key }));
    viewer.send({ type: 'deployments', changed: things as never, gone: keys });
    viewer.send({ type: 'decisions', decisions: things as never });
    viewer.send({
      type: 'cluster',
      nowMs: 0,
      cluster: { epoch: 1, replicas: [{ identity: 'a', running: things }] } as never,
      queues: [{ controller: 'deployment', parked: things } as never],
    });
    viewer.send({ type: 'listed' });
    await viewer.drained();
    expect(events.map(({ type }) => type)).toEqual(['deployments', 'decisions', 'cluster', 'listed']);
    expect(JSON.stringify(events)).toContain('shop/web');
    expect(JSON.stringify(events)).not.toMatch(/secret|node-1/);
  });
});
