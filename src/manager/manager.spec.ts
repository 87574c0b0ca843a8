import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { MemoryActorRuntime } from '../actor/index.js';
import { FakeClock } from '../clock/index.js';
import type { Reconciler } from '../controller/index.js';
import { Controller } from '../controller/index.js';
import { LeaseLostError, ShutdownError } from '../errors/index.js';
import { silentLogger } from '../logging/index.js';
import { FakeCluster } from '../testing/fake-cluster.js';
import { waitFor } from '../testing/wait-for.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import type { Elector } from './manager.js';
import { Manager } from './manager.js';

/** Leads when it is told to, and stops when it is told why. */
class ScriptedElector implements Elector {
  log: string[] = [];
  private lead: ((signal: AbortSignal, epoch: number) => Promise<void>) | undefined;
  private term: { stop: AbortController; ended: Promise<void> } | undefined;

  async run(lead: (signal: AbortSignal, epoch: number) => Promise<void>, signal: AbortSignal): Promise<void> {
    this.lead = lead;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await this.lose(new ShutdownError('stop'));
    this.log.push('released');
  }

  win(epoch: number): void {
    const stop = new AbortController();
    this.term = { stop, ended: this.lead?.(stop.signal, epoch) ?? Promise.resolve() };
  }

  async lose(reason: Error): Promise<void> {
    this.term?.stop.abort(reason);
    await this.term?.ended;
    this.term = undefined;
  }
}

function setUp(reconcileOn: 'all' | 'leader', reconcile: Reconciler['reconcile'] = async () => ({})) {
  const clock = new FakeClock();
  const elector = new ScriptedElector();
  const queue = new MemoryWorkQueue({ name: 'test', clock });
  const actors = new MemoryActorRuntime({ clock });
  const reconciled: string[] = [];
  const controller = new Controller({
    name: 'test',
    reconciler: {
      reconcile: (request, context) => {
        reconciled.push(request.key);
        return reconcile(request, context);
      },
    },
    queue,
    consumer: new MemoryWorkQueueConsumer(queue),
    actors,
    clientFor: () => new FakeCluster(clock),
    informerOf: () => undefined,
    clock,
    logger: silentLogger,
    tracer: trace.getTracer('test'),
    workers: 2,
    caughtUpTimeoutMs: 1000,
    replica: 'test',
  });
  const built = { reconciler: { reconcile }, watch: () => () => undefined };
  const manager = new Manager({
    informers: {
      run: (signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
      waitForSync: async () => undefined,
    },
    elector,
    controllers: [{ controller, built }],
    actors,
    background: [],
    reconcileOn,
    clock,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new ShutdownError('stop'));
    await running;
  };
  return { clock, controller, elector, end, manager, queue, reconciled, running, stop };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );

describe('a replica', () => {
  it('works on keys whether it leads or not, where all reconcile', async () => {
    const { controller, end, queue, reconciled } = setUp('all');
    await waitFor(() => controller.isConsuming);
    await queue.add('ns/a');
    await waitFor(() => reconciled.includes('ns/a'));
    await end();
    expect(controller.isConsuming).toBe(false);
  });

  it('works on keys while it leads and at no other time, where only the leader reconciles', async () => {
    const { controller, elector, end, manager, queue, reconciled } = setUp('leader');
    await waitFor(() => manager.state === 'running');
    await queue.add('ns/a');
    expect(controller.isConsuming).toBe(false);
    elector.win(1);
    await waitFor(() => reconciled.includes('ns/a'));
    await elector.lose(new LeaseLostError('taken'));
    expect(controller.isConsuming).toBe(false);
    await queue.add('ns/b');
    expect(reconciled).toEqual(['ns/a']);
    elector.win(2);
    await waitFor(() => reconciled.includes('ns/b'));
    await end();
  });

  it('gives up the lease after its last key, where only the leader reconciles', async () => {
    const log: string[] = [];
    let finish = (): void => undefined;
    const { elector, end, manager, queue, reconciled } = setUp('leader', async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      log.push('finished');
      return {};
    });
    elector.log = log;
    await waitFor(() => manager.state === 'running');
    elector.win(1);
    await queue.add('ns/a');
    await waitFor(() => reconciled.length > 0);
    const ended = end();
    expect(manager.state).toBe('stopping');
    finish();
    await ended;
    expect(log).toEqual(['finished', 'released']);
  });

  it('ends what runs at once when it has lost the lease, and hands the key over', async () => {
    let reason: unknown;
    const { elector, end, manager, queue, reconciled } = setUp('leader', async (_, { signal }) => {
      await untilAborted(signal).catch((error: unknown) => {
        reason = error;
        throw error;
      });
      return {};
    });
    await waitFor(() => manager.state === 'running');
    elector.win(1);
    await queue.add('ns/a');
    await waitFor(() => reconciled.length > 0);
    await elector.lose(new LeaseLostError('taken'));
    expect(reason).toMatchObject({ code: 'LEASE_LOST' });
    expect((await queue.counts()).waiting).toBe(1);
    await end();
  });

  it('is not ready any more before anything of it has heard of the stop', async () => {
    const { manager, running, stop } = setUp('all');
    await waitFor(() => manager.state === 'running');
    stop.abort(new ShutdownError('stop'));
    expect(manager.state).toBe('stopping');
    await running;
    expect(manager.state).toBe('stopped');
  });
});
