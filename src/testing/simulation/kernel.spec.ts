import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextTurn } from '@rollkeeper/machinery/clock';
import { Kernel } from './kernel.js';
import { Network } from './network.js';
import { SimulatedProcess } from './process.js';

describe('a kernel', () => {
  let kernel: Kernel;
  let order: string[];

  beforeEach(() => {
    kernel = new Kernel({ seed: 1 });
    order = [];
  });

  afterEach(() => kernel.close());

  it('fires completions in the order of their times, and lets promises and turns end in between', async () => {
    kernel.after(20, () => order.push('late'));
    kernel.after(10, () => {
      order.push('early');
      void nextTurn().then(async () => {
        await Promise.resolve();
        order.push('what follows');
      });
    });
    await kernel.runUntil(30);
    expect(order).toEqual(['early', 'what follows', 'late']);
    expect(kernel.nowMs).toBe(30);
  });

  it('gives a process that is paused its completions when it goes on, and a dead one none', async () => {
    const paused = new SimulatedProcess(kernel, 'paused');
    const dead = new SimulatedProcess(kernel, 'dead');
    for (const each of [paused, dead]) each.clock.setTimeout(() => order.push(each.name), 10);
    paused.pause();
    dead.kill();
    await kernel.runUntil(1000);
    expect(order).toEqual([]);
    paused.resume();
    await kernel.runUntil(1010);
    expect(order).toEqual(['paused']);
  });

  it('lets the clocks of processes drift and jump by themselves', async () => {
    const fast = new SimulatedProcess(kernel, 'fast', { rate: 1.01 });
    const other = new SimulatedProcess(kernel, 'other');
    other.clock.jumpWallClock(-5000);
    await kernel.runUntil(10_000);
    expect(fast.clock.monotonicNow()).toBeCloseTo(10_100);
    expect(other.clock.monotonicNow()).toBe(10_000);
    expect(fast.clock.now() - other.clock.now()).toBe(5100);
  });

  it('fires what is left among many that were cancelled', async () => {
    const all = Array.from({ length: 2000 }, (_, index) =>
      kernel.after(index, () => order.push(String(index))),
    );
    for (const [index, each] of all.entries()) if (index % 100 !== 0) each.cancel();
    await kernel.runUntil(2000);
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => String(index * 100)));
  });

  it('leaves no timer that was cancelled', async () => {
    const process = new SimulatedProcess(kernel, 'p');
    const timer = process.clock.setTimeout(() => order.push('fired'), 10);
    timer.cancel();
    await kernel.runUntil(20);
    expect(order).toEqual([]);
    expect(process.clock.pendingTimers).toBe(0);
  });
});

describe('a network', () => {
  let kernel: Kernel;
  let client: SimulatedProcess;
  let server: SimulatedProcess;
  let network: Network;
  let effects: number;

  const call = () =>
    network.call({
      ...{ from: client, to: server, text: 'count', mayBeDoubled: true },
      effect: async () => ++effects,
    });

  beforeEach(() => {
    kernel = new Kernel({ seed: 1 });
    client = new SimulatedProcess(kernel, 'client');
    server = new SimulatedProcess(kernel, 'server');
    network = new Network(kernel, () => [1, 2]);
    effects = 0;
  });

  afterEach(() => kernel.close());

  it('brings an answer after the time of two messages', async () => {
    const answer = call();
    await kernel.runUntil(4);
    expect(await answer).toBe(1);
  });

  it('brings a late message after every one that is not late, and counts it', async () => {
    network.set('server', { late: 1, lateMs: 0 });
    for (let messages = 1; messages <= 50; messages++) expect(network.latency(client, server)).toBe(2);
    expect(network.faults.get('message late')).toBe(50);
  });

  it('has the weather of everywhere, unless that of a process is worse', () => {
    network.setEverywhere({ lost: 1 });
    expect(network.happens('lost', client, server)).toBe(true);
    network.set('server', { lost: 0, broken: 1 });
    expect(network.happens('lost', client, server)).toBe(true);
    expect(network.happens('broken', client, server)).toBe(true);
    network.clear();
    expect(network.happens('lost', client, server)).toBe(false);
  });

  it('tells the sender of a connection that breaks, and may have had the effect', async () => {
    network.set('server', { broken: 1 });
    const answer = expect(call()).rejects.toThrow('the connection broke: count');
    await kernel.runUntil(10);
    await answer;
    expect(network.faults.get('message broken')).toBe(1);
  });

  it('takes effect twice where a request is doubled', async () => {
    network.set('server', { doubled: 1 });
    const answer = call();
    await kernel.runUntil(10);
    expect(await answer).toBe(2);
    expect(effects).toBe(2);
  });

  it('still takes effect for a client that has died since', async () => {
    void call();
    client.kill();
    await kernel.runUntil(10);
    expect(effects).toBe(1);
  });
});
