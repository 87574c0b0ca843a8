import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { QueuedActivations } from '../activation/index.js';
import { ApiStatusError } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { ShutdownError, TerminalError } from '../../machinery/errors/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { aDeployment } from '../../testing/deployment-builder.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { MemoryEventRecorder } from '../../testing/memory-event-recorder.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import { Controller } from './controller.js';

const KEY = 'default/web';
const answer = (code: number, message: string) => new ApiStatusError({ code, message });

/** A controller whose syncs all end with `failure`. */
async function failing(failure: unknown) {
  const clock = new FakeClock();
  const queue = new MemoryWorkQueue({ name: 'deployment', clock });
  const recorder = new MemoryEventRecorder();
  const syncsAtMs: number[] = [];
  const deployment = aDeployment();
  const controller = new Controller({
    name: 'deployment',
    sync: async () => {
      syncsAtMs.push(clock.monotonicNow());
      throw failure;
    },
    activations: new QueuedActivations({
      ...{ queue, clock, logger: silentLogger },
      consumer: new MemoryWorkQueueConsumer(queue),
      actors: new MemoryActorRuntime({ clock }),
    }),
    clientFor: () => new FakeCluster(clock),
    informerOf: () => undefined,
    events: recorder,
    objectOf: (key) => (key === KEY ? deployment : undefined),
    clock,
    logger: silentLogger,
    tracer: trace.getTracer('test'),
    workers: 1,
    caughtUpTimeoutMs: 1000,
    replica: 'test',
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new ShutdownError('stop'));
    await running;
  };
  await queue.add(KEY);
  return { clock, end, queue, recorder, syncsAtMs };
}

describe('a key of which no sync can succeed', () => {
  it.each([
    { name: 'is refused', failure: answer(422, 'spec.replicas: Invalid value') },
    { name: 'finds no room', failure: answer(403, 'pods "web-1" is forbidden: exceeded quota: pods') },
  ])('is tried soon, and then less and less often, where a write $name', async ({ failure }) => {
    const { clock, end, queue, syncsAtMs } = await failing(failure);
    const startMs = clock.monotonicNow();
    await clock.advance(2000);
    const gaps = [0, 5, 10, 20, 40, 80, 160, 320, 640];
    expect(syncsAtMs.map((at) => at - startMs)).toEqual(
      gaps.map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap)),
    );
    await clock.advance(180_000);
    expect(await queue.parked()).toMatchObject([{ key: KEY, retries: 15 }]);
    const before = syncsAtMs.length;
    await clock.advance(180_000 * 3);
    expect(syncsAtMs).toHaveLength(before + 3);
    await queue.add(KEY, { reason: 'user-change' });
    await clock.advance(1000);
    expect(syncsAtMs.length).toBeGreaterThan(before + 8);
    await end();
  });

  it.each([
    { name: 'a refusal', failure: answer(422, 'too long'), retries: 16 },
    { name: 'a terminal error', failure: new TerminalError('too long'), retries: 1 },
    { name: 'too many failures', failure: new Error('too long'), retries: 16 },
  ])('has a Warning on its object after $name, which says how to replay it', async ({ failure, retries }) => {
    const { clock, end, recorder, syncsAtMs } = await failing(failure);
    await clock.advance(170_000);
    expect(syncsAtMs).toHaveLength(retries);
    expect(recorder.events).toEqual([
      {
        kind: 'Deployment',
        key: KEY,
        type: 'Warning',
        reason: 'SyncParked',
        message: expect.stringMatching(
          /too long.*rollkeeper queue unpark deployment default\/web$/,
        ) as string,
      },
    ]);
    await clock.advance(180_000);
    const messages = new Set(recorder.events.map(({ message }) => message));
    expect([recorder.events.length, messages.size]).toEqual([2, 1]);
    await end();
  });
});
