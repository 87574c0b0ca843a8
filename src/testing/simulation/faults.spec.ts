import { expect, it } from 'vitest';
import { Faults } from './faults.js';
import { RedisStore } from './redis/world/redis-store.js';
import { World } from './world.js';

it('a store that fails over without its last writes has lost the lease when it does so, not when these writes began', async () => {
  const world = await World.create({
    seed: 1,
    replicas: 0,
    controllers: () => [],
    coordination: (process, network) => new RedisStore(process, network),
  });
  const { kernel } = world;
  const faults = new Faults(world);
  const beganMs = kernel.nowMs;
  faults.make({ atMs: beganMs, fault: 'the store loses its last writes', dice: [0.5, 0.5, 0.5, 0.5] });
  await kernel.runUntil(beganMs + 499);
  expect(faults.lostLeaseAtMs).toBe(-Infinity);
  await kernel.runUntil(beganMs + 501);
  expect(faults.lostLeaseAtMs).toBe(beganMs + 500);
  await world.close();
});

it('a Redis whose clock goes forward ends the lease too early, also when its clock is set right after it went back', async () => {
  const world = await World.create({
    seed: 1,
    replicas: 0,
    controllers: () => [],
    coordination: (process, network) => new RedisStore(process, network),
  });
  const { kernel } = world;
  const faults = new Faults(world);
  // There are no replicas, so the first process is the store, and the second the API server.
  const [store, api] = [0, 0.9];
  const [back, forward] = [0.1, 0.9];
  const jump = (which: number, way: number): void =>
    faults.make({ atMs: kernel.nowMs, fault: 'a wall clock jumps', dice: [which, way, 0, 0.5] });
  jump(api, forward);
  jump(store, back);
  expect(faults.lostLeaseAtMs).toBe(-Infinity);
  await kernel.runUntil(kernel.nowMs + 100);
  await faults.end();
  expect(faults.lostLeaseAtMs).toBe(kernel.nowMs);
  await world.close();
});
