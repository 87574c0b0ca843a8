import { describe, expect, it } from 'vitest';
import type { ReplicaStatus } from '../../admin/server/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { ShutdownError } from '../../../machinery/errors/index.js';
import type { Started } from './wait-until-ready.js';
import { waitUntilReady } from './wait-until-ready.js';

const REPLICAS = ['controller-0', 'controller-1'].map((identity) => ({
  identity,
  adminUrl: `http://${identity}`,
}));

/** A starting set, advanced by the test; there is no leader yet. */
function starting() {
  const clock = new FakeClock();
  const stop = new AbortController();
  const said: string[] = [];
  const world = {
    down: [] as string[],
    replicas: REPLICAS as Started['replicas'],
    failing: new Map<string, string[] | undefined>(),
    leader: '',
  };
  let ended: string | undefined;
  const waiting = waitUntilReady(() => world, {
    clock,
    signal: stop.signal,
    token: undefined,
    onWait: (whatFor) => said.push(whatFor),
    probe: {
      failingChecks: async ({ adminUrl }) => (world.failing.has(adminUrl) ? world.failing.get(adminUrl) : []),
      askStatus: async ({ adminUrl }) => ({ leader: adminUrl === world.leader }) as ReplicaStatus,
    },
  }).then(
    () => (ended = 'ready'),
    (error: Error) => (ended = error.message),
  );
  return { clock, said, stop, waiting, world, ended: () => ended };
}

describe('the wait for a set that starts', () => {
  it('is over once all replicas are ready and one of them leads, and nothing is said of a short one', async () => {
    const { clock, ended, said, world } = starting();
    await clock.advance(9000);
    expect(ended()).toBeUndefined();
    world.leader = 'http://controller-0';
    await clock.advance(100);
    expect(ended()).toBe('ready');
    expect(said).toEqual([]);
  });

  it('lasts as long as it takes, and says what for each time that it is something else', async () => {
    const { clock, ended, said, world } = starting();
    world.down = ['the API server'];
    world.failing.set('http://controller-0', ['api', 'informers', 'running']);
    world.failing.set('http://controller-1', undefined);
    await clock.advance(3_600_000);
    expect(said).toEqual([
      'not running: the API server; not ready: controller-0 (api, informers and 1 more), controller-1',
    ]);
    world.down = [];
    world.failing.clear();
    world.replicas = [...REPLICAS.slice(0, 1), { identity: 'controller-1' }];
    await clock.advance(60_000);
    world.replicas = REPLICAS;
    await clock.advance(60_000);
    expect(said.slice(1)).toEqual(['not running: controller-1', 'no replica leads']);
    expect(ended()).toBeUndefined();
    world.leader = 'http://controller-0';
    await clock.advance(100);
    expect(ended()).toBe('ready');
  });

  it('does not say every change of a set whose processes come and go', async () => {
    const { clock, said, world } = starting();
    for (let turn = 0; turn < 100; turn++) {
      world.down = turn % 2 === 0 ? ['the API server'] : ['Redis'];
      await clock.advance(100);
    }
    expect(said.length).toBeLessThanOrEqual(2);
  });

  it('ends when somebody stops it', async () => {
    const { clock, ended, stop, world } = starting();
    world.down = ['the API server'];
    await clock.advance(60_000);
    stop.abort(new ShutdownError('stopped by SIGINT'));
    await clock.advance(100);
    expect(ended()).toBe('stopped by SIGINT');
  });
});
