import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasCode } from '@rollkeeper/machinery/errors';
import type { WorkHandler, WorkItem, WorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { LeaderPrecedence } from '@rollkeeper/runtime/work-queue';
import { ExclusiveProbe, gate } from './exclusive-probe.js';
import type {
  MakeWorkQueueHarness,
  TestedWorkQueue as WorkQueue,
  WorkQueueHarness,
} from './work-queue-harness.js';
import type { PropertyParameters } from './work-queue-properties.js';
import { workQueueProperties } from './work-queue-properties.js';

/** The contract of every WorkQueue with its consumer. */
export function runWorkQueueContract(
  name: string,
  make: MakeWorkQueueHarness,
  property: PropertyParameters,
): void {
  describe(`${name}: the contract of a work queue`, () => {
    let harness: WorkQueueHarness;
    let stop: AbortController;
    let stopped: Promise<void>[];

    const setUp = async (options?: WorkQueueOptions): Promise<WorkQueue> => {
      harness = await make(options);
      return harness.queue();
    };
    const consume = (handler: WorkHandler, concurrency = 4): void => {
      stopped.push(harness.consumer().run(handler, { concurrency }, stop.signal));
    };
    /** Consumes one key at a time and records them; the first key, `first`, waits until `release` is called. */
    const consumeBehindGate = async (queue: WorkQueue): Promise<{ items: WorkItem[]; release(): void }> => {
      const items: WorkItem[] = [];
      const first = gate();
      consume(async (item) => {
        items.push(item);
        if (item.key === 'first') await first.passed;
      }, 1);
      await queue.add('first');
      await harness.until(() => items.length === 1);
      return { items, release: () => first.open() };
    };

    beforeEach(() => {
      stop = new AbortController();
      stopped = [];
    });

    afterEach(async () => {
      stop.abort();
      await Promise.all(stopped);
      await harness.close();
    });

    describe('adds', () => {
      it('runs an added key', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await queue.add('ns/a', { reason: 'user-change', priority: 'high', traceparent: '00-a-b-01' });
        await harness.until(() => items.length > 0);
        expect(items).toEqual([
          expect.objectContaining({
            key: 'ns/a',
            reason: 'user-change',
            priority: 'high',
            traceparent: '00-a-b-01',
            retries: 0,
          }),
        ]);
        expect(items[0]?.readySinceMs).toBeGreaterThan(Date.UTC(2020, 0));
      });

      it('keeps a delayed add that is made by the very run which a timer caused', async () => {
        const queue = await setUp();
        const runs = new Map<string, number>();
        consume(async ({ key }) => {
          const count = (runs.get(key) ?? 0) + 1;
          runs.set(key, count);
          if (count < 3) await queue.addAfter(key, 60, { reason: 'requeue' });
        });
        const keys = Array.from({ length: 50 }, (_, index) => `timed-${index}`);
        for (const key of keys) await queue.addAfter(key, 20);
        await harness.until(() => keys.every((key) => runs.get(key) === 3));
      });

      it('keeps a key that waits only once, with the highest priority and the earliest time', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        await queue.add('a', { priority: 'low', reason: 'resync', traceparent: 'trace-1' });
        await harness.pass(20);
        await queue.add('a', { priority: 'high', reason: 'user-change' });
        await queue.add('a', { priority: 'normal', reason: 'child-change', traceparent: 'trace-2' });
        behind.release();
        await harness.until(() => behind.items.length >= 2);
        await harness.pass(50);
        expect(behind.items.map((item) => item.key)).toEqual(['first', 'a']);
        expect(behind.items[1]).toMatchObject({
          priority: 'high',
          reason: 'user-change',
          traceparent: 'trace-1',
          links: ['trace-2'],
        });
      });

      it('remembers the traces of delayed adds that gave way to an earlier one', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        await queue.addAfter('a', 60_000, { traceparent: 'trace-1' });
        await queue.addAfter('a', 100, { traceparent: 'trace-2' });
        await queue.addAfter('a', 60_000, { traceparent: 'trace-3' });
        consume(async (item) => void items.push(item));
        await harness.until(() => items.length > 0);
        expect(items[0]).toMatchObject({ traceparent: 'trace-2', links: ['trace-1', 'trace-3'] });
      });

      it('remembers the traces of a retry that gives way to an earlier timer, or takes its place', async () => {
        const queue = await setUp({ backoffBaseMs: 200 });
        const items: WorkItem[] = [];
        await queue.addAfter('earlier', 50, { traceparent: 'trace-1' });
        await queue.addRateLimited('earlier', new Error('no'), {
          traceparent: 'trace-2',
          links: ['trace-3'],
        });
        await queue.addAfter('later', 60_000, { traceparent: 'trace-1', links: ['trace-2'] });
        await queue.addRateLimited('later', new Error('no'), { traceparent: 'trace-3' });
        consume(async (item) => void items.push(item));
        await harness.until(() => items.length === 2);
        const of = (key: string) => items.find((item) => item.key === key);
        expect(of('earlier')).toMatchObject({ traceparent: 'trace-1', links: ['trace-2', 'trace-3'] });
        // It is the change's now, and not dropped with what runs asked for.
        expect(of('later')).toMatchObject({
          reason: 'child-change',
          traceparent: 'trace-3',
          links: ['trace-1', 'trace-2'],
        });
      });

      it('runs a key that was added while it was worked on exactly once more', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        for (let index = 0; index < 5; index++) await queue.add('first', { reason: 'child-change' });
        await harness.pass(30);
        expect(behind.items).toHaveLength(1);
        behind.release();
        await harness.until(() => behind.items.length >= 2);
        await harness.pass(50);
        expect(behind.items).toHaveLength(2);
      });

      it('keeps the high priority of an add during a run although a low one follows', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        await queue.add('first', { priority: 'high', reason: 'user-change' });
        await queue.add('first', { priority: 'low', reason: 'resync' });
        await queue.add('other', { priority: 'normal' });
        behind.release();
        await harness.until(() => behind.items.length >= 3);
        expect(behind.items.map((item) => item.key)).toEqual(['first', 'first', 'other']);
        expect(behind.items[1]).toMatchObject({ priority: 'high', reason: 'user-change' });
      });

      it('works on one key never twice at the same time, on several consumers', async () => {
        const queue = await setUp();
        const probe = new ExclusiveProbe();
        let runs = 0;
        let failure: unknown;
        const handler: WorkHandler = async (item) => {
          runs += 1;
          await probe
            .enter(item.key, async () => void (await Promise.resolve()))
            .catch((error: unknown) => (failure = error));
        };
        consume(handler);
        consume(handler);
        for (let index = 0; index < 60; index++) await queue.add(`key-${index % 3}`);
        await harness.until(async () => {
          const { waiting, active } = await queue.counts();
          return waiting + active === 0 && runs > 0;
        });
        expect(failure).toBeUndefined();
      });

      it('runs a key again whose handler rejected', async () => {
        const queue = await setUp();
        let runs = 0;
        consume(async () => {
          runs += 1;
          if (runs === 1) throw new Error('a bug');
        });
        await queue.add('a');
        await harness.until(() => runs === 2);
      });
    });

    describe('delays', () => {
      it('runs a delayed add after its delay, ready since then', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await queue.addAfter('a', 3000, { reason: 'requeue' });
        await harness.pass(100);
        expect(items).toHaveLength(0);
        expect(await queue.counts()).toMatchObject({ waiting: 0, delayed: 1 });
        await harness.until(() => items.length === 1, 5000);
        expect(items[0]).toMatchObject({ key: 'a', reason: 'requeue' });
        await harness.until(async () => (await queue.counts()).delayed === 0);
      });

      it('does not run at once what is due in more days than a timer of the platform holds', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await queue.addAfter('ns/yearly', 40 * 86_400_000, { reason: 'requeue' });
        await harness.pass(300);
        expect({ items, ...(await queue.counts()) }).toMatchObject({ items: [], waiting: 0, delayed: 1 });
      });

      it('does not let an immediate add wait behind a delayed one', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await queue.addAfter('a', 60_000);
        await queue.add('a', { reason: 'user-change' });
        await harness.until(() => items.length === 1, 1000);
        expect(items[0]?.reason).toBe('user-change');
      });

      it('does not let a delayed add during a run take the place of an immediate one', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        await queue.add('first', { reason: 'user-change' });
        await queue.addAfter('first', 60_000, { reason: 'requeue' });
        behind.release();
        await harness.until(() => behind.items.length === 2, 1000);
        expect(behind.items[1]?.reason).toBe('user-change');
      });

      it('lets the earliest of several delayed adds of a key count', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await queue.addAfter('a', 60_000, { reason: 'requeue' });
        await queue.addAfter('a', 100, { reason: 'child-change' });
        await queue.addAfter('a', 400, { reason: 'requeue' });
        await harness.until(() => items.length === 1, 1500);
        await harness.pass(600);
        expect(items.map((item) => item.reason)).toEqual(['child-change']);
      });
    });

    describe('retries', () => {
      it('doubles the backoff of a key with each failure, and forgets on demand', async () => {
        const queue = await setUp({ backoffBaseMs: 5, backoffMaxMs: 40 });
        const delays: number[] = [];
        for (let index = 0; index < 5; index++) {
          delays.push((await queue.addRateLimited('a', new Error('no'))).delayMs);
        }
        expect(delays).toEqual([5, 10, 20, 40, 40]);
        expect(await queue.numRequeues('a')).toBe(5);
        await queue.forget('a');
        expect(await queue.numRequeues('a')).toBe(0);
        expect((await queue.addRateLimited('a', new Error('no'))).delayMs).toBe(5);
      });

      it('tells the handler how often the key failed, also on another replica', async () => {
        const queue = await setUp();
        await queue.addRateLimited('a', new Error('no'));
        await harness.queue().addRateLimited('a', new Error('no'));
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await harness.until(() => items.length >= 1);
        expect(items[0]).toMatchObject({ retries: 2, reason: 'retry' });
      });

      it('drops on demand what earlier runs asked for later, and nothing that a change asked for', async () => {
        const queue = await setUp();
        await queue.addAfter('ns/done', 60_000, { reason: 'requeue' });
        await queue.addAfter('ns/change', 60_000, { reason: 'child-change' });
        // The earliest of several counts: here that of a run, which a change joins or is joined by.
        await queue.addAfter('ns/joined', 30_000, { reason: 'requeue' });
        await queue.addAfter('ns/joined', 60_000, { reason: 'child-change' });
        await queue.addAfter('ns/joining', 60_000, { reason: 'child-change' });
        await queue.addAfter('ns/joining', 30_000, { reason: 'retry' });
        const seen = new Map<string, boolean | undefined>();
        consume(async ({ comesBack, key }) => {
          await queue.forget(key);
          seen.set(key, comesBack);
        });
        const ofChanges = ['ns/change', 'ns/joined', 'ns/joining'];
        for (const key of ['ns/done', 'ns/never', ...ofChanges]) await queue.add(key);
        await harness.until(() => seen.size === 5);
        expect(Object.fromEntries(seen)).toEqual({
          'ns/done': true,
          'ns/never': false,
          ...Object.fromEntries(ofChanges.map((key) => [key, false])),
        });
        const { delayed } = await harness.queue().inspect(10);
        expect(delayed.map(({ key }) => key).toSorted()).toEqual(ofChanges);
        expect((await harness.queue().counts()).delayed).toBe(3);
      });

      it('lets all keys together wait for the token bucket', async () => {
        const queue = await setUp({ bucketBurst: 3, bucketRatePerSecond: 0.01 });
        const delays: number[] = [];
        for (const key of ['a', 'b', 'c', 'd', 'e']) {
          delays.push((await queue.addRateLimited(key, new Error('no'))).delayMs);
        }
        expect(delays.slice(0, 3)).toEqual([5, 5, 5]);
        expect(delays[3]).toBeGreaterThan(50_000);
        expect(delays[4]).toBeGreaterThan(150_000);
        expect(delays[4]).toBeLessThanOrEqual(200_000);
      });

      it('does not let an immediate add wait behind a backoff', async () => {
        const queue = await setUp({ backoffBaseMs: 60_000 });
        await queue.addRateLimited('a', new Error('no'));
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        await queue.add('a');
        await harness.until(() => items.length === 1, 1000);
      });

      it('parks a key after maxRetries failures in a row until a new add takes it out', async () => {
        const queue = await setUp({ maxRetries: 2, backoffBaseMs: 1 });
        for (const parked of [false, false, true]) {
          expect((await queue.addRateLimited('a', new Error('no good'))).parked).toBe(parked);
        }
        expect(await queue.parked()).toEqual([
          {
            ...{ key: 'a', error: 'no good', retries: 2 },
            ...{ parkedAtMs: expect.any(Number) as number, nextTryMs: expect.any(Number) as number },
          },
        ]);
        const items: WorkItem[] = [];
        await queue.add('a', { reason: 'user-change' });
        expect(await queue.parked()).toEqual([]);
        expect((await queue.counts()).parked).toBe(0);
        consume(async (item) => void items.push(item));
        await harness.until(() => items.length >= 1);
        expect(items[0]?.retries).toBe(0);
      });

      it('says of a key that failed too often when its next try is, and does not call it delayed', async () => {
        const queue = await setUp({ maxRetries: 0, parkedRetryMs: 600_000 });
        await queue.addRateLimited('a', new Error('no'));
        const { delayed, parked } = await queue.inspect(10);
        expect({ delayed, parked }).toEqual({ delayed: [], parked: await queue.parked() });
        expect((await queue.inspectKey('a')).parked).toEqual(parked[0]);
        const waitMs = (parked[0]?.nextTryMs ?? 0) - (parked[0]?.parkedAtMs ?? 0);
        expect(Math.abs(waitMs - 600_000)).toBeLessThan(60_000);
      });

      it('tries a key that failed too often once now and then, and parks it again', async () => {
        const queue = await setUp({ maxRetries: 1, backoffBaseMs: 1, parkedRetryMs: 50 });
        const runs: WorkItem[] = [];
        consume(async (item) => {
          runs.push(item);
          await queue.addRateLimited('a', new Error('no'));
        });
        await queue.add('a');
        await harness.until(() => runs.length >= 4);
        expect(runs[1]).toMatchObject({ reason: 'retry', retries: 1 });
        for (const run of runs.slice(2, 4))
          expect(run).toMatchObject({ reason: 'parked', priority: 'low', retries: 1 });
      });

      it('gives all its retries to a change that meets the try of a parked key', async () => {
        const queue = await setUp({ maxRetries: 1, backoffBaseMs: 1 });
        for (const parked of [false, true])
          expect((await queue.addRateLimited('a', new Error('no'))).parked).toBe(parked);
        await queue.add('a', { reason: 'parked', priority: 'low' });
        expect(await queue.parked()).toEqual([]);
        expect(await queue.numRequeues('a')).toBe(1);
        await queue.add('a', { reason: 'user-change', priority: 'high' });
        expect(await queue.numRequeues('a')).toBe(0);
      });

      it('does not retry before it is asked to, however short the backoff', async () => {
        const queue = await setUp({ backoffBaseMs: 50 });
        expect(await queue.addRateLimited('a', new Error('no'), { leastDelayMs: 400 })).toMatchObject({
          delayMs: 400,
        });
        const longer = await queue.addRateLimited('a', new Error('no'), { leastDelayMs: 60 });
        expect(longer.delayMs).toBe(100);
      });

      it('tries a key that was parked at once now and then, where that is asked for', async () => {
        const queue = await setUp({ parkedRetryMs: 50 });
        const runs: WorkItem[] = [];
        consume(async (item) => {
          runs.push(item);
          await queue.park('a', new Error('hopeless'), { traceparent: 'trace-1' });
        });
        await queue.park('a', new Error('hopeless'), { traceparent: 'trace-1' });
        expect((await queue.parked())[0]?.nextTryMs).toBeGreaterThan(0);
        await harness.until(() => runs.length >= 2);
        for (const run of runs)
          expect(run).toMatchObject({
            reason: 'parked',
            priority: 'low',
            traceparent: 'trace-1',
            retries: 0,
          });
      });

      it('gives no new retries to a key for a retry that was on its way when it was parked', async () => {
        const queue = await setUp({ backoffBaseMs: 50 });
        await queue.addRateLimited('a', new Error('no'));
        await queue.park('a', new Error('no'));
        const runs: WorkItem[] = [];
        consume(async (item) => void runs.push(item));
        await harness.until(() => runs.length === 1);
        expect(runs[0]).toMatchObject({ reason: 'parked', retries: 1 });
      });

      it.each(['at once', 'after too many failures'])(
        'does not park a key %s whose change came during the run, and gives that change all its retries',
        async (when) => {
          const queue = await setUp({ maxRetries: 1, backoffBaseMs: 1 });
          await queue.addRateLimited('first', new Error('no'));
          const items: WorkItem[] = [];
          const ended = gate();
          consume(async (item) => {
            items.push(item);
            if (items.length > 1) return;
            await ended.passed;
            const { parked } = await (when === 'at once'
              ? queue.park('first', new Error('no'), {})
              : queue.addRateLimited('first', new Error('no')));
            expect(parked).toBe(false);
          }, 1);
          await harness.until(() => items.length === 1);
          await queue.add('first', { reason: 'user-change', priority: 'high' });
          ended.open();
          await harness.until(() => items.length === 2);
          expect(items.map(({ reason, retries }) => ({ reason, retries }))).toEqual([
            { reason: 'retry', retries: 1 },
            { reason: 'user-change', retries: 0 },
          ]);
          expect(await queue.parked()).toEqual([]);
        },
      );

      it('parks a key at once on demand', async () => {
        const queue = await setUp();
        await queue.park('a', new Error('hopeless'));
        expect(await queue.parked()).toMatchObject([{ key: 'a', error: 'hopeless', retries: 0 }]);
        expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 1 });
      });
    });

    describe('terms of leaders', () => {
      const [a1, b1, b2] = [
        { epoch: 1, holder: 'a' },
        { epoch: 1, holder: 'b' },
        { epoch: 2, holder: 'b' },
      ];
      const refused = (epoch: number): object => ({ code: 'SUPERSEDED', epoch });
      const known = async (queue: WorkQueue, key: string): Promise<boolean> => {
        const { hasJob, waiting } = await queue.inspectKey(key);
        return hasJob || waiting !== undefined;
      };

      it('runs what is added under the term that has begun', async () => {
        const queue = await setUp();
        const items: WorkItem[] = [];
        consume(async (item) => void items.push(item));
        const adds = await queue.beginTerm(a1);
        await adds.add('ns/a', { reason: 'user-change', priority: 'high' });
        await harness.until(() => items.length > 0);
        expect(items[0]).toMatchObject({ key: 'ns/a', reason: 'user-change', priority: 'high' });
      });

      it('refuses every add of a term once a newer one has begun, on any replica, without any trace of it', async () => {
        const queue = await setUp();
        await queue.park('parked', new Error('no'));
        const old = await queue.beginTerm(a1);
        await harness.queue().beginTerm(b2);
        for (const key of ['ns/a', 'parked'])
          await expect(old.add(key, { reason: 'user-change' })).rejects.toMatchObject(refused(2));
        expect(await known(queue, 'ns/a')).toBe(false);
        expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 1 });
      });

      it('refuses an add that meets a running key like any other', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        const old = await queue.beginTerm(a1);
        await queue.beginTerm(b2);
        await expect(old.add('first', { priority: 'high' })).rejects.toMatchObject(refused(2));
        behind.release();
        await harness.until(async () => !(await known(queue, 'first')));
        await harness.pass(50);
        expect(behind.items).toHaveLength(1);
      });

      it('refuses a term that begins after a newer one, and lets that one go on', async () => {
        const queue = await setUp();
        const adds = await queue.beginTerm(b2);
        await expect(harness.queue().beginTerm(a1)).rejects.toMatchObject(refused(2));
        await adds.add('ns/a');
        expect(await known(queue, 'ns/a')).toBe(true);
      });

      it('lets only the first of two holders of one epoch begin', async () => {
        const queue = await setUp();
        const adds = await queue.beginTerm(a1);
        await expect(harness.queue().beginTerm(b1)).rejects.toMatchObject(refused(1));
        await adds.add('ns/a');
        expect(await known(queue, 'ns/a')).toBe(true);
      });

      it('lets the same term begin again', async () => {
        const queue = await setUp();
        const before = await queue.beginTerm(b2);
        const after = await queue.beginTerm(b2);
        for (const [index, adds] of [before, after].entries()) {
          await adds.add(`ns/${index}`);
          expect(await known(queue, `ns/${index}`)).toBe(true);
        }
      });

      it('confirms a term for as long as no newer one has begun', async () => {
        const queue = await setUp();
        const old = await queue.beginTerm(a1);
        await old.check();
        await harness.queue().beginTerm(a1);
        await old.check();
        const adds = await harness.queue().beginTerm(b2);
        await expect(old.check()).rejects.toMatchObject(refused(2));
        await adds.check();
      });

      it('asks nothing of those who add under no term', async () => {
        const queue = await setUp();
        await queue.beginTerm(b2);
        await harness.queue().add('ns/a');
        expect(await known(queue, 'ns/a')).toBe(true);
      });

      it('lets nothing of an old leader in that it begins to add after the new one has begun', async () => {
        const queue = await setUp();
        const old = await queue.beginTerm(a1);
        let [isOver, wereRefused] = [false, 0];
        const late: string[] = [];
        const addUntilRefused = async (lane: number): Promise<void> => {
          for (let count = 0; count < 200; count++) {
            const [key, beganAfter] = [`${lane}-${count}`, isOver];
            const isRefused = await old.add(key).then(
              () => false,
              (error: unknown) => hasCode(error, 'SUPERSEDED'),
            );
            if (isRefused) wereRefused += 1;
            else if (beganAfter) late.push(key);
          }
        };
        const begin = async (): Promise<void> => {
          await harness.queue().beginTerm(b2);
          isOver = true;
        };
        await Promise.all([...Array.from({ length: 4 }, (_, lane) => addUntilRefused(lane)), begin()]);
        expect(wereRefused).toBeGreaterThan(0);
        expect(late).toEqual([]);
      });
    });

    describe('priorities', () => {
      it('shows what waits, what comes back later and what is parked', async () => {
        const queue = await setUp();
        await queue.add('ns/waits', { priority: 'high', reason: 'user-change' });
        await queue.addAfter('ns/later', 60_000, { reason: 'requeue' });
        await queue.park('ns/parked', new Error('no'));
        const waiting = {
          key: 'ns/waits',
          priority: 'high',
          reason: 'user-change',
          sinceMs: expect.any(Number),
        };
        const delayed = { key: 'ns/later', reason: 'requeue', failures: 0, dueMs: expect.any(Number) };
        const parked = expect.objectContaining({ key: 'ns/parked', error: 'no' });
        expect(await queue.inspect(10)).toEqual({ waiting: [waiting], delayed: [delayed], parked: [parked] });
        expect(await queue.inspectKey('ns/waits')).toMatchObject({ hasJob: true });
        expect(await queue.inspectKey('ns/later')).toEqual({ hasJob: false, failures: 0, delayed });
        expect(await queue.inspectKey('ns/parked')).toEqual({ hasJob: false, failures: 0, parked });
        expect(await queue.inspectKey('ns/unknown')).toEqual({ hasJob: false, failures: 0 });
      });

      it('forgets all about a key on demand, and takes it up again with its next change', async () => {
        const queue = await setUp();
        const keys: string[] = [];
        await queue.add('ns/a');
        await queue.addAfter('ns/b', 10);
        await queue.park('ns/c', new Error('no'));
        for (const key of ['ns/a', 'ns/b', 'ns/c']) expect(await queue.purge(key)).toBe(true);
        expect(await queue.purge('ns/unknown')).toBe(false);
        consume(async ({ key }) => void keys.push(key));
        await harness.pass(100);
        expect(keys).toEqual([]);
        await queue.add('ns/a');
        await harness.until(() => keys.length === 1);
        expect(keys).toEqual(['ns/a']);
      });

      it('drops the run that was to follow the one under way, and lets that one end', async () => {
        const queue = await setUp();
        const gated = await consumeBehindGate(queue);
        await queue.add('first');
        expect(await queue.purge('first')).toBe(true);
        gated.release();
        await queue.add('last');
        await harness.until(() => gated.items.length === 2);
        expect(gated.items.map(({ key }) => key)).toEqual(['first', 'last']);
      });

      it('takes the higher priority first, and in the order of the adds within one', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        await queue.add('low-1', { priority: 'low' });
        await queue.add('normal-1');
        await queue.add('high-1', { priority: 'high' });
        await queue.add('low-2', { priority: 'low' });
        await queue.add('normal-2');
        await queue.add('high-2', { priority: 'high' });
        behind.release();
        await harness.until(() => behind.items.length === 7);
        expect(behind.items.map((item) => item.key)).toEqual([
          'first',
          'high-1',
          'high-2',
          'normal-1',
          'normal-2',
          'low-1',
          'low-2',
        ]);
      });

      it('gives each namespace its turn, however many keys of another wait', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        for (let index = 0; index < 30; index++) await queue.add(`busy/${index}`);
        await queue.add('quiet/a');
        await queue.add('other/a', { priority: 'high' });
        await queue.add('quiet/b');
        behind.release();
        await harness.until(() => behind.items.length === 34);
        const order = behind.items.map(({ key }) => key);
        expect(order.slice(1, 6)).toEqual(['other/a', 'busy/0', 'quiet/a', 'busy/1', 'quiet/b']);
        expect(order.slice(6)).toEqual(Array.from({ length: 28 }, (_, index) => `busy/${index + 2}`));
      });

      it('gives a namespace its turn although all keys of another are user changes', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        for (let index = 0; index < 30; index++) await queue.add(`busy/${index}`, { priority: 'high' });
        await queue.add('quiet/a');
        behind.release();
        await harness.until(() => behind.items.length === 32);
        expect(behind.items.findIndex(({ key }) => key === 'quiet/a')).toBeLessThanOrEqual(9);
      });

      it('gives each namespace its turn among keys of low priority that have waited too long', async () => {
        const queue = await setUp({ agingMs: 300, maintenanceIntervalMs: 100 });
        const behind = await consumeBehindGate(queue);
        for (let index = 0; index < 10; index++) await queue.add(`busy/${index}`, { priority: 'low' });
        await queue.add('quiet/a', { priority: 'low' });
        await harness.pass(700);
        await queue.add('new/a');
        behind.release();
        await harness.until(() => behind.items.length === 13);
        const order = behind.items.map(({ key }) => key);
        expect(order.indexOf('quiet/a')).toBeLessThanOrEqual(3);
        expect(order.indexOf('new/a')).toBeLessThanOrEqual(5);
      });

      it('takes each key at a cost that hardly grows with how many wait', async () => {
        const queue = await setUp();
        const { cpuMs } = harness;
        if (!cpuMs) return;
        /** The cost of adding so many keys and taking them one by one: the least of three. */
        const costOf = async (count: number): Promise<number> => {
          const costs: number[] = [];
          for (let round = 0; round < 3; round++) {
            const startMs = cpuMs();
            for (let index = 0; index < count; index++)
              await queue.add(`ns${index % 50}/${index}`, { priority: 'low', reason: 'initial-list' });
            let left = count;
            const over = new AbortController();
            const run = harness.consumer().run(async () => void left--, { concurrency: 1 }, over.signal);
            await harness.until(() => left === 0);
            over.abort();
            await run;
            costs.push(cpuMs() - startMs);
          }
          return Math.min(...costs);
        };
        const few = await costOf(500);
        const many = await costOf(8000);
        // In proportion it would be 16 times as much, with a look at all for each key 256 times.
        expect(many / Math.max(few, 1)).toBeLessThan(64);
      });

      it('moves a waiting key up when it is added with a higher priority', async () => {
        const queue = await setUp();
        const behind = await consumeBehindGate(queue);
        await queue.add('a', { priority: 'low' });
        await queue.add('b', { priority: 'normal' });
        await queue.add('a', { priority: 'high' });
        behind.release();
        await harness.until(() => behind.items.length === 3);
        expect(behind.items.map((item) => item.key)).toEqual(['first', 'a', 'b']);
      });

      it('lets no key starve: one that waited long enough goes before newer ones of any priority', async () => {
        const queue = await setUp({ agingMs: 300, maintenanceIntervalMs: 100 });
        const behind = await consumeBehindGate(queue);
        await queue.add('old', { priority: 'low' });
        await harness.pass(700);
        for (let index = 0; index < 5; index++) await queue.add(`new-${index}`, { priority: 'high' });
        behind.release();
        await harness.until(() => behind.items.length === 7);
        expect(behind.items.map((item) => item.key).slice(0, 2)).toEqual(['first', 'old']);
      });
    });

    describe('precedence', () => {
      /** Consumes without precedence until it is granted. */
      const consumeBehind = (seen: string[]): LeaderPrecedence => {
        const precedence = new LeaderPrecedence();
        const handler = async ({ key }: { key: string }): Promise<void> => void seen.push(key);
        stopped.push(harness.consumer().run(handler, { concurrency: 4, precedence }, stop.signal));
        return precedence;
      };

      it('leaves keys to the consumer that comes first', async () => {
        const queue = await setUp({ spreadAfterMs: 60_000 });
        const seen = { first: [] as string[], behind: [] as string[] };
        consumeBehind(seen.behind);
        consumeBehind(seen.first).set(true);
        for (let index = 0; index < 20; index++) await queue.add(`key-${index}`);
        await harness.until(() => seen.first.length === 20);
        expect(seen.behind).toEqual([]);
      });

      it('takes a key that has waited for spreadAfterMs wherever it is taken', async () => {
        const queue = await setUp({ spreadAfterMs: 300 });
        const seen: string[] = [];
        consumeBehind(seen);
        await queue.add('a', { priority: 'low' });
        await harness.until(() => seen.length === 1);
        await queue.addAfter('b', 10);
        await harness.until(() => seen.length === 2);
        expect(seen).toEqual(['a', 'b']);
      });

      it('takes what waits as soon as it comes first', async () => {
        const queue = await setUp({ spreadAfterMs: 60_000 });
        const seen: string[] = [];
        const precedence = consumeBehind(seen);
        await queue.add('a');
        await harness.pass(500);
        expect(seen).toEqual([]);
        precedence.set(true);
        await harness.until(() => seen.length === 1);
        precedence.set(false);
        await queue.add('b');
        await harness.pass(100);
        precedence.set(true);
        await harness.until(() => seen.length === 2);
        expect(seen).toEqual(['a', 'b']);
      });
    });

    describe('stopping', () => {
      it('waits for running handlers and takes no new key', async () => {
        const queue = await setUp();
        const running = gate();
        const started: string[] = [];
        let ended = false;
        const consumer = harness.consumer();
        const run = consumer.run(
          async (item) => {
            started.push(item.key);
            await running.passed;
          },
          { concurrency: 1 },
          stop.signal,
        );
        void run.then(() => (ended = true));
        await queue.add('a');
        await harness.until(() => started.length === 1);
        expect(consumer.isConsuming).toBe(true);
        stop.abort();
        await queue.add('b');
        await harness.pass(100);
        expect({ started, ended, consuming: consumer.isConsuming }).toMatchObject({
          started: ['a'],
          ended: false,
        });
        running.open();
        await harness.until(() => ended);
        expect(started).toEqual(['a']);
        expect(consumer.isConsuming).toBe(false);
        expect((await queue.counts()).waiting).toBe(1);
      });

      it('aborts the signals of handlers that run on after drainTimeoutMs', async () => {
        const queue = await setUp({ drainTimeoutMs: 100 });
        let reason: unknown;
        let started = false;
        consume(async (_item, signal) => {
          started = true;
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          reason = signal.reason;
        });
        await queue.add('a');
        await harness.until(() => started);
        stop.abort();
        await harness.until(() => reason !== undefined, 1000);
        expect(reason).toMatchObject({ code: 'SHUTDOWN' });
      });

      it('runs a consumer once at a time, and again after it has ended', async () => {
        const queue = await setUp();
        const consumer = harness.consumer();
        const seen: string[] = [];
        const handler = async ({ key }: { key: string }): Promise<void> => void seen.push(key);
        const first = new AbortController();
        const run = consumer.run(handler, { concurrency: 1 }, first.signal);
        await expect(consumer.run(handler, { concurrency: 1 }, first.signal)).rejects.toMatchObject({
          code: 'ILLEGAL_STATE',
        });
        await harness.until(() => consumer.isConsuming);
        first.abort();
        await run;
        expect(consumer.isConsuming).toBe(false);
        await queue.add('a');
        await harness.pass(50);
        expect(seen).toEqual([]);
        stopped.push(consumer.run(handler, { concurrency: 1 }, stop.signal));
        await harness.until(() => seen.length > 0);
        expect(seen).toEqual(['a']);
      });
    });

    workQueueProperties(async (options) => {
      harness = await make(options);
      return harness;
    }, property);
  });
}
