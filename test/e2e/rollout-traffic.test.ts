import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { SharedUp } from './support/shared-up.js';
import { TrafficWorld } from './support/traffic-world.js';

const REQUESTS = 2000;

/* Leaders that die, scales, dead nodes and 20 000 requests are in the nightly suite. */
describe('requests that move with a rollout', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let world: TrafficWorld;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, 'traffic');
    world = await TrafficWorld.start(client, 'traffic', {
      policies: { steps: 'weight 20%; approve; weight 50%', 'traffic-drain': '1s' },
    });
  });
  afterAll(async () => {
    await world?.stop();
    await client?.close();
    await up.give();
  });

  it('go to the new version by the weight of the step, and none fails until it has all of them', async () => {
    await world.setImage('web:2');
    await world.says('WaitingForApproval');
    await world.weigh('80/20');
    expect(Math.abs((await world.shareOf('web:2', REQUESTS)) - 20)).toBeLessThan(1);
    await world.annotate({ approve: 'alice' });
    await world.settledAt('web:2');
    expect(await world.shareOf('web:2', 100)).toBe(100);
    expect(world.all.failures).toEqual({});
  });

  it('go back to the old version at once when the rollout is aborted, and none fails', async () => {
    await world.setImage('web:3');
    await world.says('WaitingForApproval');
    await world.weigh('80/20');
    await world.annotate({ abort: 'bob' });
    await world.weigh('100/0');
    expect(await world.shareOf('web:3', 100)).toBe(0);
    await world.settledAt('web:2');
    expect(world.all.failures).toEqual({});
  });
});
