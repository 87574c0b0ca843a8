import type { Span } from '@opentelemetry/api';
import { SpanStatusCode, context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { WorkItem } from '../work-queue/work-queue.js';
import type { Decision } from './reconciler.js';
import { noteCachesRead } from './sync-span-events.js';
import { SyncSpans, outcomeAttributes } from './sync-spans.js';

const CHANGE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const MERGED = '00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01';
const clock = new FakeClock(Date.UTC(2026, 0, 1));
const item: WorkItem = {
  key: 'a/web',
  retries: 2,
  reason: 'user-change',
  priority: 'high',
  readySinceMs: clock.now() - 250,
  traceparent: CHANGE,
  links: [MERGED],
};
const decision: Decision = {
  branch: 'rolling-update',
  summary: 'create web-1 with 3',
  changes: true,
  inputs: { 'rollkeeper.max_surge': 3 },
};

let exporter: InMemorySpanExporter;
let spans: SyncSpans;
let lines: [string, object][];
const logger = {
  ...silentLogger,
  info: (message: string, fields = {}) => void lines.push([message, { ...fields, ...activeTrace() }]),
};

function activeTrace(): object {
  return { trace: trace.getActiveSpan()?.spanContext().traceId };
}

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());
beforeEach(() => {
  lines = [];
  exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  spans = new SyncSpans({
    tracer: provider.getTracer('test'),
    clock,
    controller: 'deployment',
    replica: 'replica-1',
  });
});

const look = (...[ran, sync, decided]: readonly [WorkItem, Span, Decision]): void => {
  noteCachesRead(() => ({ 'k8s.resource_version': '7', 'rollkeeper.replica_sets.owned': 2 }));
  spans.decide(() => ({ decision: decided }), ran.key, sync, logger);
};

const run = (decided: Decision, ran = item): Promise<void> =>
  spans.run(ran, async (sync) => look(ran, sync, decided));

const syncSpan = (): ReadableSpan | undefined =>
  exporter.getFinishedSpans().find(({ name }) => name === 'sync deployment');

describe('a run on a key', () => {
  it('hangs on the change that caused it, with a wait as a span of its own and links to merged changes', async () => {
    await run(decision);
    const [queue, sync, ...others] = exporter.getFinishedSpans();
    expect(others).toEqual([]);
    const wait = {
      'rollkeeper.attempt': 3,
      'rollkeeper.priority': 'high',
      'rollkeeper.queue.wait_ms': 250,
    };
    expect(queue).toMatchObject({ name: 'queue', attributes: wait, duration: [0, 250e6] });
    expect(queue?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(sync?.parentSpanContext?.spanId).toBe(queue?.spanContext().spanId);
    expect(sync?.attributes).toMatchObject(wait);
    expect(sync?.links.map((link) => link.context.spanId)).toEqual(['c7ad6b7169203331']);
  });

  it('hangs on the change itself where it hardly had to wait, and tells the wait', async () => {
    await run(decision, { ...item, readySinceMs: clock.now() - 99 });
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['sync deployment']);
    expect(syncSpan()?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(syncSpan()?.attributes).toMatchObject({ 'rollkeeper.attempt': 3, 'rollkeeper.queue.wait_ms': 99 });
  });

  it('tells as events of its span what was found, and what was decided from what and how long that took', async () => {
    await run(decision);
    expect(syncSpan()?.attributes['rollkeeper.decision']).toBe('rolling-update');
    expect(syncSpan()?.events).toMatchObject([
      {
        name: 'read caches',
        attributes: { 'k8s.resource_version': '7', 'rollkeeper.replica_sets.owned': 2 },
      },
      {
        name: 'decided',
        attributes: {
          'rollkeeper.decision': 'rolling-update',
          'rollkeeper.decision.summary': 'create web-1 with 3',
          'rollkeeper.decision.changes': true,
          'rollkeeper.decide_ms': expect.any(Number),
          'rollkeeper.max_surge': 3,
        },
      },
    ]);
  });

  it('tells of every look, and names the branch of the last one', async () => {
    await spans.run(item, async (sync) => {
      look(item, sync, decision);
      look(item, sync, { ...decision, branch: 'rest', summary: '', changes: false });
    });
    expect(syncSpan()?.attributes['rollkeeper.decision']).toBe('rest');
    const decided = syncSpan()?.events.filter(({ name }) => name === 'decided') ?? [];
    expect(decided.map(({ attributes }) => attributes?.['rollkeeper.decision'])).toEqual([
      'rolling-update',
      'rest',
    ]);
    // No summary if nothing changed.
    expect(decided[1]?.attributes).not.toHaveProperty('rollkeeper.decision.summary');
    expect(decided[1]?.attributes).not.toHaveProperty('rollkeeper.decision.changes');
  });

  it('shows that deciding failed, also where the failure went no further', async () => {
    await spans.run(item, async (sync) => {
      const fails = (): never => {
        throw new Error('no such limit');
      };
      expect(() => spans.decide(fails, item.key, sync, logger)).toThrow('no such limit');
    });
    expect(syncSpan()).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'no such limit' },
      attributes: { 'rollkeeper.failed_step': 'decide' },
    });
  });

  it.each([
    [{ action: 'done' } as const, { 'rollkeeper.outcome': 'done' }],
    [
      { action: 'come-back', delayMs: 200, why: 'behind' } as const,
      { 'rollkeeper.outcome': 'come-back', 'rollkeeper.delay_ms': 200, 'rollkeeper.why': 'behind' },
    ],
    [
      { action: 'retry', error: new Error('no'), leastDelayMs: 0 } as const,
      { 'rollkeeper.outcome': 'retry', 'rollkeeper.error': 'no' },
    ],
  ])('says when the key comes back, and why: %o', (outcome, attributes) => {
    expect(outcomeAttributes(outcome)).toEqual(attributes);
  });

  it('says one line for a decision that changes something, with key, controller and trace', async () => {
    await run(decision);
    expect(lines).toEqual([
      [
        'decided: create web-1 with 3',
        expect.objectContaining({
          controller: 'deployment',
          key: 'a/web',
          trace: '0af7651916cd43dd8448eb211c80319c',
        }),
      ],
    ]);
  });

  it('says nothing of what it does a thousand times, but its span does', async () => {
    await run({ ...decision, routine: true });
    expect(lines).toEqual([]);
    expect(syncSpan()?.events.at(-1)?.attributes).toMatchObject({
      'rollkeeper.decision.summary': 'create web-1 with 3',
    });
  });

  it('says nothing where everything stays as it is', async () => {
    await run({ ...decision, changes: false, summary: '' });
    expect(lines).toEqual([]);
  });
});
