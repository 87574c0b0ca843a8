import { randomUUID } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { QueuedActivations } from '../../src/runtime/activation/index.js';
import { RedisActivationQueue, RedisActorRuntime, BullMqWorkQueueConsumer } from '../../src/redis/index.js';
import { withWriteGuard } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { SyncAccess } from '../../src/runtime/controller/index.js';
import { Controller } from '../../src/runtime/controller/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { gate } from '../../src/testing/exclusive-probe.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { aPod } from '../../src/testing/pod-builder.js';
import { waitFor } from '../../src/testing/wait-for.js';

const clock = new SystemClock();
const KEY = 'default/web';
/** Longer than a lock of the queue (2 s) and of an actor (2.5 s): both have to be kept for it. */
const SYNC_TIMEOUT_MS = 3000;
const ABANDON_AFTER_MS = 500;

interface Sync {
  readonly replica: string;
  readonly atMs: number;
  readonly context: SyncAccess;
}

describe('a sync without end on one of two replicas', () => {
  const redisUrl = inject('redisUrl');
  let keyPrefix: string;
  let stop: AbortController;
  let closings: (() => Promise<unknown>)[];
  let syncs: Sync[];
  let cluster: FakeCluster;
  const forever = gate();

  beforeEach(() => {
    keyPrefix = randomUUID();
    stop = new AbortController();
    closings = [];
    syncs = [];
    cluster = new FakeCluster();
  });
  afterEach(async () => {
    forever.open();
    stop.abort();
    for (const close of closings.reverse()) await close();
  });

  function startReplica(replica: string): RedisActivationQueue {
    const queue = new RedisActivationQueue({ name: 'test', redisUrl, keyPrefix, clock });
    const actors = new RedisActorRuntime({ redisUrl, keyPrefix, clock });
    const controller = new Controller({
      name: 'test',
      sync: async (_request, context) => {
        syncs.push({ replica, atMs: clock.monotonicNow(), context });
        if (syncs.length === 1) await forever.passed;
        return {};
      },
      activations: new QueuedActivations({
        ...{ queue, actors, clock, logger: silentLogger },
        consumer: new BullMqWorkQueueConsumer({ queue }),
      }),
      clientFor: (activation) => withWriteGuard(cluster, activation.signal, () => activation.assertHeld()),
      informerOf: () => undefined,
      clock,
      logger: silentLogger,
      tracer: trace.getTracer('test'),
      workers: 1,
      caughtUpTimeoutMs: 1000,
      syncTimeoutMs: SYNC_TIMEOUT_MS,
      abandonAfterMs: ABANDON_AFTER_MS,
      replica,
    });
    const running = controller.run(stop.signal);
    closings.push(
      () => queue.close(),
      () => actors.close(),
      () => running,
    );
    return queue;
  }

  it('keeps its key for its time and no longer, and may write nothing once others have it', async () => {
    const queue = startReplica('a');
    startReplica('b');
    await queue.add(KEY);
    await waitFor(() => syncs.length > 0, { what: 'the first sync' });
    // A change meanwhile must not be lost, and must not overtake it either.
    await queue.add(KEY);
    await waitFor(() => syncs.length > 1, { what: 'another sync of the key' });
    const [hung, next] = syncs as [Sync, Sync];
    expect(next.atMs - hung.atMs).toBeGreaterThan(SYNC_TIMEOUT_MS + ABANDON_AFTER_MS - 50);
    expect(hung.context.signal.reason).toMatchObject({ code: 'SYNC_TIMEOUT' });
    await expect(hung.context.client.create(Pod, aPod())).rejects.toMatchObject({ code: 'SYNC_TIMEOUT' });
    await waitFor(async () => (await queue.counts()).active === 0, { what: 'the queue to be at rest' });
    expect(cluster.requests).toEqual([]);
    expect((await queue.inspectKey(KEY)).failures).toBe(0);
  });
});
