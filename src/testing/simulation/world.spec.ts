import { describe, expect, it } from 'vitest';
import { Faults } from './faults.js';
import { World } from './world.js';

describe('a world', () => {
  it('starts one process for a replica that two faults start again at the same time', async () => {
    const world = await World.create({ seed: 1, replicas: 1, controllers: () => [] });
    world.replicas[0]!.process.kill();
    const both = Promise.all([world.startReplica(0), world.startReplica(0)]);
    const [first, second] = await world.during(both);
    expect(first).toBe(second);
    expect(world.replicas).toEqual([first]);
    first.process.kill();
    await world.close();
  });

  it('starts no replica in place of a former process that dies at a late effect', async () => {
    const world = await World.create({ seed: 1, replicas: 1, controllers: () => [] });
    const faults = new Faults(world);
    const former = world.replicas[0]!.process;
    const dice = [0, 0.9, 0, 0] as const;
    faults.make({ atMs: 0, fault: 'a replica dies at an effect', dice });
    await world.during(world.startReplica(0));
    world.network.onEffect(former, 'after', 'a request that was on its way');
    expect(former.isAlive).toBe(false);
    await world.kernel.runUntil(world.kernel.nowMs + 10_000);
    expect(Object.keys(world.replicas)).toEqual(['0']);
    world.replicas[0]!.process.kill();
    await world.close();
  });
});
