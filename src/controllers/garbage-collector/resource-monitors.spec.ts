import { describe, expect, it, vi } from 'vitest';
import type { ListOptions, WatchOptions } from '../../client/api-client/index.js';
import { ApiStatusError } from '../../client/api-client/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import type { ListWatcher } from '../../client/informer/index.js';
import { InformerFactory } from '../../client/informer/index.js';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { Node, Pod } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { served } from '../../testing/fake-cluster.js';
import { DependencyGraph } from './dependency-graph.js';
import { compileGarbageCollectorOptions } from './garbage-collector.options.js';
import { ResourceMonitors } from './resource-monitors.js';

/** Hangs like a server until aborted. */
function hang(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

/** The monitors with real informers on a scripted server and a manual clock. */
function setUp(
  answer: (type: ResourceType, options: ListOptions) => Promise<void> = async () => undefined,
  begin: 'there' | 'away' = 'there',
) {
  const clock = new FakeClock();
  const listed: string[] = [];
  const client: ListWatcher = {
    async list(type, options = {}) {
      listed.push(type.resource);
      await answer(type, options);
      return { items: [], resourceVersion: '1' };
    },
    async *watch(_type: ResourceType, { signal }: WatchOptions) {
      yield await hang(signal);
    },
  };
  const informers = new InformerFactory({
    client,
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  const discover = vi.fn(async () => ({
    resources: served(Pod, Node),
    failedGroups: [] as { groupVersion: string; error: Error }[],
  }));
  if (begin === 'away') discover.mockRejectedValue(new Error('the server is away'));
  const graph = new DependencyGraph();
  const monitors = new ResourceMonitors(
    { informers, discovery: { discover }, graph, clock, logger: silentLogger },
    compileGarbageCollectorOptions(),
  );
  const stop = new AbortController();
  const running = monitors.run(stop.signal);
  const ready = vi.fn();
  const isReady = monitors.waitUntilReady(stop.signal).then(ready);
  return {
    clock,
    discover,
    isReady,
    listed,
    monitors,
    ready,
    stop: async () => {
      stop.abort(new Error('the lease is lost'));
      await running;
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

describe('the monitors are ready', () => {
  it('when every type has been listed, or refused', async () => {
    const { clock, isReady, monitors, stop } = setUp(async ({ resource }) => {
      if (resource === 'nodes') throw new ApiStatusError({ code: 403, message: 'you may not' });
    });
    await clock.advance(0);
    await isReady;
    expect(monitors.counts).toEqual({ syncing: 0, synced: 1, unreadable: 1 });
    expect(monitors.unreadable()).toEqual([{ resource: 'nodes', reason: 'you may not' }]);
    await stop();
  });

  it('after half a minute in spite of a type that hangs, and not before', async () => {
    const { clock, isReady, monitors, ready, stop } = setUp(async ({ resource }, { signal }) => {
      if (resource === 'nodes') await hang(signal);
    });
    await clock.advance(29_999);
    expect(ready).not.toHaveBeenCalled();
    expect(monitors.isFilling).toBe(true);
    await clock.advance(1);
    await isReady;
    expect(monitors.isFilling).toBe(false);
    expect(monitors.unreadable()).toEqual([{ resource: 'nodes', reason: 'the server has not answered yet' }]);
    await stop();
  });

  it('not before the server has told what it has, however long that takes', async () => {
    const { clock, discover, isReady, monitors, ready, stop } = setUp(undefined, 'away');
    await clock.advance(120_000);
    expect(ready).not.toHaveBeenCalled();
    expect(monitors.unreadable()).toEqual([{ resource: 'discovery', reason: 'the server is away' }]);
    const asked = discover.mock.calls.length;
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(15);
    discover.mockResolvedValue({ resources: served(Pod), failedGroups: [] });
    await clock.advance(30_000);
    await isReady;
    expect(monitors.unreadable()).toEqual([]);
    await stop();
  });

  it('never, once the lease is lost', async () => {
    const { clock, isReady, stop } = setUp(undefined, 'away');
    const rejected = expect(isReady).rejects.toThrow('the lease is lost');
    await clock.advance(100);
    await stop();
    await rejected;
  });
});

describe('the requests of the monitors to the server', () => {
  it('is one question every half minute while nothing changes', async () => {
    const { clock, discover, listed, stop } = setUp();
    await clock.advance(0);
    expect(discover).toHaveBeenCalledTimes(1);
    await clock.advance(30_000);
    await clock.advance(30_000);
    expect(discover).toHaveBeenCalledTimes(3);
    expect(listed.sort()).toEqual(['nodes', 'pods']);
    await stop();
  });

  it('is named where the answer is not whole, and what is known is kept', async () => {
    const { clock, discover, monitors, stop } = setUp();
    await clock.advance(0);
    discover.mockResolvedValue({ resources: [], failedGroups: [] });
    await clock.advance(30_000);
    expect(monitors.unreadable()).toEqual([
      { resource: 'discovery', reason: 'the server says that it has nothing' },
    ]);
    expect(monitors.counts.synced).toBe(2);
    await stop();
  });
});
