import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { waitFor } from '../../testing/wait-for.js';
import type { AddOptions } from '../work-queue/work-queue.js';
import { Enqueuer } from './enqueuer.js';

describe('the enqueuer', () => {
  const ref = { namespace: 'default', name: 'web' };
  let clock: FakeClock;
  let calls: string[];
  let failures: number;
  let leads: boolean;
  let needed: boolean;
  let changes: { type: ResourceType; resourceVersion: string }[];
  let enqueuer: Enqueuer;

  beforeEach(() => {
    clock = new FakeClock();
    calls = [];
    failures = 0;
    changes = [];
    leads = true;
    needed = true;
    const call = (text: string): Promise<void> => {
      if (failures > 0) {
        failures -= 1;
        return Promise.reject(new Error('redis is away'));
      }
      calls.push(text);
      return Promise.resolve();
    };
    enqueuer = new Enqueuer({
      controller: 'deployment',
      adds: {
        add: (key, options) => call(`add ${key} ${options?.priority ?? 'normal'}`),
        addWithCauses: async (key, { assertLeads, versions }, options) => {
          await call(`cause ${key} ${Object.entries(versions).flat().join(' ')}`);
          assertLeads?.();
          await call(`add ${key} ${options?.priority ?? 'normal'}`);
        },
      },
      changesSeen: () => changes,
      mayEnqueue: () => leads,
      needsSync: () => needed,
      clock,
      logger: silentLogger,
    });
  });

  it('records the cause before it adds the key', async () => {
    enqueuer.enqueueUntil(new AbortController().signal)({ ref, cause: { type: Pod, resourceVersion: '7' } });
    await clock.advance(0);
    expect(calls).toEqual(['cause default/web pods 7', 'add default/web normal']);
  });

  it('records besides the cause what else must have been seen, the newest of each resource', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    enqueue({
      ref,
      cause: { type: Pod, resourceVersion: '7' },
      mustHaveSeen: [
        { type: ReplicaSet, resourceVersion: '5' },
        { type: Pod, resourceVersion: '6' },
      ],
    });
    await clock.advance(0);
    expect(calls).toEqual(['cause default/web pods 7 replicasets.apps 5', 'add default/web normal']);
  });

  it('asks of whoever works on the initial list to have seen every change that the leader has seen', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    changes = [{ type: Pod, resourceVersion: '12' }];
    enqueue({ ref, cause: { type: ReplicaSet, resourceVersion: '7' }, reason: 'initial-list' });
    await clock.advance(0);
    expect(calls).toEqual(['cause default/web replicasets.apps 7 pods 12', 'add default/web normal']);
    calls = [];
    enqueue({ ref, cause: { type: ReplicaSet, resourceVersion: '8' }, reason: 'child-change' });
    await clock.advance(0);
    expect(calls).toEqual(['cause default/web replicasets.apps 8', 'add default/web normal']);
  });

  it('adds nothing once the lease has run out, also where the signal is late, and goes on if it was not lost', async () => {
    const stop = new AbortController();
    const enqueue = enqueuer.enqueueUntil(stop.signal);
    leads = false;
    enqueue({ ref });
    await clock.advance(100);
    expect(calls).toEqual([]);
    leads = true;
    await clock.advance(1000);
    expect(calls).toEqual(['add default/web normal']);
    leads = false;
    enqueue({ ref });
    stop.abort();
    await clock.advance(1000);
    expect(calls).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('merges what arrives meanwhile: newest causes, shortest delay, highest priority', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    enqueue({ ref });
    enqueue({ ref, cause: { type: Pod, resourceVersion: '10' }, delayMs: 50 });
    enqueue({ ref, cause: { type: Pod, resourceVersion: '9' }, priority: 'high' });
    enqueue({ ref, cause: { type: ReplicaSet, resourceVersion: '8' } });
    await clock.advance(0);
    expect(calls).toEqual([
      'add default/web normal',
      'cause default/web pods 10 replicasets.apps 8',
      'add default/web high',
    ]);
  });

  it('adds nothing where nothing is to be done when the wait is over; its causes go with the next add', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    const echo = { ref, delayMs: 50, onlyIfNeeded: true };
    enqueue({ ...echo, cause: { type: Pod, resourceVersion: '7' } });
    needed = false;
    await clock.advance(100);
    expect(calls).toEqual([]);
    expect(enqueuer.size).toBe(0);
    enqueue({ ref, cause: { type: ReplicaSet, resourceVersion: '8' } });
    await clock.advance(0);
    expect(calls).toEqual(['cause default/web pods 7 replicasets.apps 8', 'add default/web normal']);
    calls = [];
    needed = true;
    enqueue({ ...echo, cause: { type: Pod, resourceVersion: '9' } });
    await clock.advance(100);
    expect(calls).toEqual(['cause default/web pods 9', 'add default/web normal']);
  });

  it('remembers what needed no run only until every cache shows it, however many keys there were', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    needed = false;
    let most = 0;
    for (let index = 0; index < 2000; index++) {
      const name = `service-${index}`;
      const cause = { type: Pod, resourceVersion: `${index + 1}` };
      enqueue({ ref: { namespace: 'default', name }, cause, onlyIfNeeded: true });
      await clock.advance(1000);
      most = Math.max(most, enqueuer.unneededSize);
    }
    expect(most).toBeLessThanOrEqual(121);
    needed = true;
    enqueue({ ref: { namespace: 'default', name: 'service-1999' }, onlyIfNeeded: true });
    enqueue({ ref: { namespace: 'default', name: 'service-1900' }, onlyIfNeeded: true });
    await clock.advance(0);
    expect(calls).toEqual([
      'cause default/service-1999 pods 2000',
      'add default/service-1900 normal',
      'add default/service-1999 normal',
    ]);
  });

  it('adds all the same where a change has joined that is always worth a sync', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    needed = false;
    enqueue({ ref, delayMs: 50, onlyIfNeeded: true });
    enqueue({ ref, delayMs: 50 });
    enqueue({ ref, delayMs: 50, onlyIfNeeded: true });
    await clock.advance(100);
    expect(calls).toEqual(['add default/web normal']);
  });

  it('makes one add of a burst, once it is over', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    for (const resourceVersion of ['7', '8', '9']) {
      enqueue({ ref, cause: { type: Pod, resourceVersion }, delayMs: 40 });
      await clock.advance(30);
    }
    expect(calls).toEqual([]);
    await clock.advance(40);
    expect(calls).toEqual(['cause default/web pods 9', 'add default/web normal']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not let a change that cannot wait wait for a burst', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    enqueue({ ref, delayMs: 500 });
    enqueue({ ref, priority: 'high' });
    await clock.advance(0);
    expect(calls).toEqual(['add default/web high']);
    await clock.advance(1000);
    expect(calls).toHaveLength(1);
  });

  it('brings a long wait forward when something more urgent happens', async () => {
    const enqueue = enqueuer.enqueueUntil(new AbortController().signal);
    enqueue({ ref, delayMs: 1000 });
    await clock.advance(100);
    enqueue({ ref, delayMs: 10 });
    await clock.advance(10);
    expect(calls).toEqual(['add default/web normal']);
    await clock.advance(1000);
    expect(calls).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('tries again until Redis answers, and loses nothing', async () => {
    failures = 5;
    enqueuer.enqueueUntil(new AbortController().signal)({ ref, cause: { type: Pod, resourceVersion: '7' } });
    await clock.advance(5000);
    expect(calls).toEqual(['cause default/web pods 7', 'add default/web normal']);
    expect(enqueuer.size).toBe(0);
  });

  it('lets go of everything when the lease is lost, and leaves no timer', async () => {
    failures = Infinity;
    const leading = new AbortController();
    enqueuer.enqueueUntil(leading.signal)({ ref });
    await clock.advance(10);
    leading.abort(new Error('lost'));
    await clock.advance(0);
    enqueuer.enqueueUntil(leading.signal)({ ref });
    expect(enqueuer.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('spans a burst once; what comes later and is more urgent has a span of its own, with a link', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const adds: AddOptions[] = [];
    const traced = new Enqueuer({
      controller: 'deployment',
      adds: {
        add: (_key, options = {}) => Promise.resolve(void adds.push(options)),
        addWithCauses: () => Promise.resolve(),
      },
      clock,
      logger: silentLogger,
      tracer: provider.getTracer('test'),
    });
    const enqueue = traced.enqueueUntil(new AbortController().signal);
    enqueue({ ref, delayMs: 100 });
    enqueue({ ref, delayMs: 100 });
    expect(exporter.getFinishedSpans()).toHaveLength(0);
    enqueue({ ref, priority: 'high', reason: 'user-change' });
    await waitFor(() => adds.length === 1);
    const [burst, urgent] = exporter.getFinishedSpans();
    expect(exporter.getFinishedSpans()).toHaveLength(2);
    expect(burst?.attributes['rollkeeper.merged']).toBe(1);
    expect(adds[0]?.traceparent).toContain(urgent?.spanContext().spanId);
    expect(adds[0]?.links).toEqual([expect.stringContaining(burst?.spanContext().spanId ?? '')]);
  });

  it('ends the span of what it lets go', () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const never = { add: () => Promise.resolve(), addWithCauses: () => Promise.resolve() };
    const traced = new Enqueuer({
      ...{ controller: 'deployment', adds: never, clock, logger: silentLogger },
      tracer: provider.getTracer('test'),
    });
    const leading = new AbortController();
    traced.enqueueUntil(leading.signal)({ ref, delayMs: 100 });
    leading.abort();
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  });
});
