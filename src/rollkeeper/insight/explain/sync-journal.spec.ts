import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { KeyLockHeldError, ShutdownError } from '../../../machinery/errors/index.js';
import type { KubernetesObject } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { MemoryActorRuntime } from '../../../testing/memory-actor-runtime.js';
import { QueuedActivations } from '../../../runtime/activation/index.js';
import type { DecideStep, Decision, SyncKey } from '../../../runtime/controller/index.js';
import { Controller } from '../../../runtime/controller/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../../../runtime/work-queue/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { DecisionLog } from './decision-log.js';
import { RunningSyncs } from './running-syncs.js';
import { SyncJournal } from './sync-journal.js';

const KEY = 'default/web';
const START = 5000;
const TIMEOUT_MS = 120_000;

const decision = (summary: string, changes: boolean): Decision => ({
  branch: 'rolling-update',
  summary,
  changes,
});
const decideAll = (decide: DecideStep, decisions: readonly Decision[]): void =>
  decisions.forEach((each) => decide(() => ({ decision: each })));
const GROWTH = decision('web-new: 1 -> 2', true);

/** One controller with a journal, that has been given its key. */
async function journaled(sync: SyncKey, uidOf: () => string | undefined = () => undefined) {
  const clock = new FakeClock(START);
  const log = new DecisionLog();
  const running = new RunningSyncs(clock);
  const queue = new MemoryWorkQueue({ name: 'deployment', clock });
  const stop = new AbortController();
  const controller = new Controller({
    name: 'deployment',
    sync,
    observers: [new SyncJournal({ replica: 'r0', log, running, clock })],
    objectOf: () => ({ metadata: { name: 'web', uid: uidOf() } }) as KubernetesObject,
    activations: new QueuedActivations({
      ...{ queue, clock, logger: silentLogger },
      consumer: new MemoryWorkQueueConsumer(queue),
      actors: new MemoryActorRuntime({ clock }),
    }),
    clientFor: () => new FakeCluster(clock),
    informerOf: () => undefined,
    clock,
    logger: silentLogger,
    tracer: trace.getTracer('test'),
    workers: 1,
    caughtUpTimeoutMs: 1000,
    syncTimeoutMs: TIMEOUT_MS,
    replica: 'r0',
  });
  void controller.run(stop.signal);
  await queue.add(KEY);
  await clock.advance(0);
  return { clock, log, noted: log.of('deployment', KEY), running, stop: () => stop.abort() };
}

describe('the journal of syncs', () => {
  it('notes which object it was about, as the caches have it when it decides', async () => {
    let uid = 'first';
    const { log, stop } = await journaled(
      async (_request, _access, decide) => {
        uid = 'second';
        decideAll(decide, [GROWTH]);
        return {};
      },
      () => uid,
    );
    expect(log.of('deployment', KEY, 'second')).toMatchObject([{ uid: 'second' }]);
    expect(log.of('deployment', KEY, 'first')).toEqual([]);
    stop();
  });

  it('notes decisions that change something, and no others, nor those that are made by the thousand', async () => {
    const { noted, stop } = await journaled(async (_request, _access, decide) => {
      decideAll(decide, [GROWTH, decision('', false), { ...decision('one of many', true), routine: true }]);
      return {};
    });
    expect(noted).toMatchObject([
      {
        atMs: START,
        controller: 'deployment',
        key: KEY,
        replica: 'r0',
        actions: ['rolling-update: web-new: 1 -> 2'],
      },
    ]);
    expect(noted[0]).not.toHaveProperty('error');
    stop();
  });

  it('shows a key while it is worked on, and no longer', async () => {
    const end = Promise.withResolvers<object>();
    const { clock, running, stop } = await journaled(() => end.promise);
    expect(running.list()).toEqual([{ controller: 'deployment', key: KEY, sinceMs: START }]);
    end.resolve({});
    await clock.advance(0);
    expect(running.list()).toEqual([]);
    stop();
  });

  it('notes a sync that takes too long when it is told to end, with what it has decided, and shows it until it has ended', async () => {
    const end = Promise.withResolvers<object>();
    let syncs = 0;
    const { clock, log, running, stop } = await journaled(async (_request, _access, decide) => {
      if (++syncs > 1) return {};
      decideAll(decide, [GROWTH]);
      return end.promise;
    });
    await clock.advance(TIMEOUT_MS);
    const sinceMs = START;
    expect(log.of('deployment', KEY)).toMatchObject([
      { error: expect.stringContaining('120000') as string, actions: ['rolling-update: web-new: 1 -> 2'] },
    ]);
    expect(running.list()).toContainEqual({
      controller: 'deployment',
      key: KEY,
      sinceMs,
      overdueSinceMs: expect.closeTo(START + TIMEOUT_MS) as number,
    });
    end.reject(new Error('interrupted'));
    await clock.advance(0);
    expect(log.of('deployment', KEY)).toHaveLength(1);
    expect(running.list().filter((each) => each.sinceMs === sinceMs)).toEqual([]);
    stop();
  });

  it('notes a failure, and what was decided before', async () => {
    const { noted, running, stop } = await journaled(async (_request, _access, decide) => {
      decideAll(decide, [GROWTH]);
      throw new Error('refused');
    });
    expect(noted).toMatchObject([{ error: 'refused', actions: ['rolling-update: web-new: 1 -> 2'] }]);
    expect(running.list()).toEqual([]);
    stop();
  });

  it.each([
    {
      name: 'a write that met a newer object as one that is tried again, and not as a failure',
      error: new ApiStatusError({ code: 409, reason: 'Conflict', message: 'the object has been modified' }),
      noted: { setback: 'another write came first; tried again' },
    },
    {
      name: 'a sync that is put off with its reason, and not as a failure',
      error: new KeyLockHeldError('another replica works on it'),
      noted: { setback: 'put off, and tried again: another replica works on it' },
    },
    {
      name: 'as a failure that another manager owns a field, which the next attempt meets as well',
      error: new ApiStatusError({
        ...{ code: 409, reason: 'Conflict', message: 'conflict with "helm"' },
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "helm"' }] },
      }),
      noted: { error: 'conflict with "helm"' },
    },
    {
      name: 'as a failure that an object of the name exists',
      error: new ApiStatusError({ code: 409, reason: 'AlreadyExists', message: 'web-new exists' }),
      noted: { error: 'web-new exists' },
    },
  ])('notes $name', async ({ error, noted: told }) => {
    let syncs = 0;
    const { noted, stop } = await journaled(async (_request, _access, decide) => {
      if (++syncs > 1) return {};
      decideAll(decide, [GROWTH]);
      throw error;
    });
    const [{ atMs: _at, controller: _of, key: _key, replica: _by, ...rest } = {}] = noted;
    expect(rest).toEqual({ actions: ['rolling-update: web-new: 1 -> 2'], ...told });
    stop();
  });

  it('notes that deciding failed, and shows the key no longer', async () => {
    const { noted, running, stop } = await journaled(async (_request, _access, decide) => {
      decide((): never => {
        throw new Error('nothing to decide');
      });
      return {};
    });
    expect(noted).toMatchObject([{ error: 'nothing to decide', actions: [] }]);
    expect(running.list()).toEqual([]);
    stop();
  });

  it('notes nothing where the work was only called off', async () => {
    let syncs = 0;
    const { noted, stop } = await journaled(async () => {
      if (++syncs > 1) return {};
      throw new ShutdownError('stopping');
    });
    expect(noted).toEqual([]);
    stop();
  });
});
