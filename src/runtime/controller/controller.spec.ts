import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { MemoryActorStore, QueuedActivations } from '../activation/index.js';
import { withWriteGuard } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { Pod } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { gate } from '../../testing/exclusive-probe.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { aPod } from '../../testing/pod-builder.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { noControllerMetrics } from './controller-metrics.js';
import { Controller } from './controller.js';
import type { ReconcileResult, SyncAccess } from './reconciler.js';

const KEY = 'default/web';

/** A controller with one worker, whose syncs run until released. */
function aController({ listens }: { listens: boolean }) {
  const clock = new FakeClock();
  const actors = new MemoryActorRuntime({ clock });
  const cluster = new FakeCluster(clock);
  const queue = new MemoryWorkQueue({ name: 'test', clock });
  const syncs: { readonly context: SyncAccess; readonly atMs: number }[] = [];
  const logged: string[] = [];
  const counts = { timedOut: 0, abandoned: 0, reconciled: [] as string[] };
  const end = gate();
  const note = (message: string) => void logged.push(message);
  const controller = new Controller({
    name: 'test',
    sync: async (_request, context) => {
      syncs.push({ context, atMs: clock.monotonicNow() });
      if (listens) await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      else await end.passed;
      context.signal.throwIfAborted();
      return {};
    },
    activations: new QueuedActivations({
      ...{ queue, actors, clock, logger: silentLogger },
      consumer: new MemoryWorkQueueConsumer(queue),
    }),
    clientFor: (activation) => withWriteGuard(cluster, activation.signal, () => activation.assertHeld()),
    informerOf: () => undefined,
    clock,
    logger: { ...silentLogger, warn: note, error: note },
    tracer: trace.getTracer('test'),
    metrics: {
      ...noControllerMetrics,
      reconciled: (_controller, outcome) => void counts.reconciled.push(outcome),
      timedOut: () => void counts.timedOut++,
      abandoned: (_controller, change) => void (counts.abandoned += change),
    },
    workers: 1,
    caughtUpTimeoutMs: 1000,
    replica: 'replica-1',
  });
  const stop = new AbortController();
  void controller.run(stop.signal);
  return { actors, clock, cluster, controller, counts, end, logged, queue, stop, syncs };
}

describe('the state of a key', () => {
  /** Runs the key once, and returns how many actors are stored a minute later. */
  async function actorsAfter(sync: () => Promise<ReconcileResult>): Promise<number> {
    const clock = new FakeClock();
    const store = new MemoryActorStore(clock);
    const queue = new MemoryWorkQueue({ name: 'test', clock });
    const consumer = new MemoryWorkQueueConsumer(queue);
    const actors = new MemoryActorRuntime({ clock, store });
    const cluster = new FakeCluster(clock);
    const controller = new Controller({
      name: 'test',
      sync,
      activations: new QueuedActivations({ queue, consumer, actors, clock, logger: silentLogger }),
      clientFor: () => cluster,
      informerOf: () => undefined,
      clock,
      logger: silentLogger,
      tracer: trace.getTracer('test'),
      workers: 1,
      caughtUpTimeoutMs: 1000,
      replica: 'replica-1',
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    await queue.add(KEY);
    await clock.advance(60_001);
    stop.abort();
    await running;
    await store.recordCauses({ controller: 'test', key: 'default/other' }, {});
    return store.size - 1;
  }

  it('expires as soon as every cache must show what was written, whether the object exists or the key comes back', async () => {
    expect(await actorsAfter(async () => ({}))).toBe(0);
    expect(await actorsAfter(async () => ({ requeueAfterMs: 3_600_000 }))).toBe(0);
  });

  it('stays while its syncs fail', async () => {
    const refused = async (): Promise<never> => {
      throw new Error('refused');
    };
    expect(await actorsAfter(refused)).toBe(1);
  });
});

describe('a sync without end', () => {
  it('is told to end after two minutes, and its key is tried again with backoff', async () => {
    const { clock, counts, logged, queue, syncs } = aController({ listens: true });
    await queue.add(KEY);
    await clock.advance(119_999);
    expect(syncs).toHaveLength(1);
    expect(syncs[0]?.context.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(syncs[0]?.context.signal.reason).toMatchObject({ code: 'SYNC_TIMEOUT' });
    await clock.advance(10);
    expect(syncs.map(({ atMs }) => atMs)).toEqual([0, 120_005]);
    expect(await queue.numRequeues(KEY)).toBe(1);
    expect(counts).toEqual({ timedOut: 1, abandoned: 0, reconciled: ['error'] });
    expect(logged).toEqual([
      'a sync exceeded its timeout and was cancelled',
      'sync failed; it will be tried again',
    ]);
  });

  it('loses its key 35 s later if it does not listen, and can write nothing from then on', async () => {
    const { clock, cluster, counts, end, logged, queue, syncs } = aController({ listens: false });
    await queue.add(KEY);
    await clock.advance(120_000 + 34_999);
    expect(syncs).toHaveLength(1);
    await clock.advance(10);
    expect(syncs.map(({ atMs }) => atMs)).toEqual([0, 155_005]);
    expect(counts).toEqual({ timedOut: 1, abandoned: 1, reconciled: ['error'] });
    const { client, intents } = syncs[0]!.context;
    await expect(client.create(Pod, aPod())).rejects.toMatchObject({ code: 'SYNC_TIMEOUT' });
    await expect(intents.store(['web-1'])).rejects.toMatchObject({ code: 'SYNC_TIMEOUT' });
    await syncs[1]!.context.client.create(Pod, aPod());
    expect(cluster.count('create')).toBe(1);
    end.open();
    await clock.advance(0);
    expect(counts.abandoned).toBe(0);
    expect(logged.at(-1)).toBe('a sync that had been abandoned has ended after all');
  });

  it('takes no worker with it for good: other keys are worked on after it', async () => {
    const { clock, queue, syncs } = aController({ listens: false });
    await queue.add(KEY);
    await queue.add('default/other');
    await clock.advance(155_000);
    expect(syncs).toHaveLength(2);
  });

  it('is parked in the end, as any key that keeps failing', async () => {
    const { clock, queue } = aController({ listens: true });
    await queue.add(KEY);
    // 16 attempts of two minutes, and the delays between them.
    await clock.advance(16 * 120_000 + 200_000);
    expect(await queue.parked()).toMatchObject([
      { key: KEY, error: 'the sync of test default/web took longer than 120000 ms' },
    ]);
  });
});

describe('intents that a sync has found settled', () => {
  it('have the next one wait, wherever it runs, until its caches show what settled them', async () => {
    const { actors, clock, end, queue, stop, syncs } = aController({ listens: false });
    await queue.add(KEY);
    await clock.advance(0);
    const { intents } = syncs[0]!.context;
    await intents.store(['web-1']);
    intents.settledAt(Pod, '7');
    intents.clear();
    end.open();
    await clock.advance(0);
    const next = actors.activate('test', KEY, stop.signal, async (activation) => ({
      intents: activation.intents,
      mustHaveSeen: activation.mustHaveSeen,
    }));
    expect(await next).toEqual({ intents: undefined, mustHaveSeen: { pods: '7' } });
  });
});
