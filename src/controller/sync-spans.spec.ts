import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../clock/index.js';
import { silentLogger } from '../logging/index.js';
import type { WorkItem } from '../work-queue/work-queue.js';
import type { Decision } from './decision.js';
import { SyncSpans } from './sync-spans.js';

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

const run = (decided: Decision): Promise<void> =>
  spans.run(item, async (sync) => {
    const observer = spans.observer(item, sync, logger);
    observer.step('decide', () => observer.decided(() => decided));
  });

describe('a run on a key', () => {
  it('hangs on the change that caused it, with the wait as a span of its own and links to merged changes', async () => {
    await run(decision);
    const [queue, decide, sync] = exporter.getFinishedSpans();
    expect(queue).toMatchObject({ name: 'queue', attributes: { 'rollkeeper.attempt': 3 } });
    expect(queue?.attributes['rollkeeper.queue.wait_ms']).toBe(250);
    expect(queue?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(queue?.links.map((link) => link.context.spanId)).toEqual(['c7ad6b7169203331']);
    expect(sync?.parentSpanContext?.spanId).toBe(queue?.spanContext().spanId);
    expect(decide?.parentSpanContext?.spanId).toBe(sync?.spanContext().spanId);
    expect(decide?.attributes).toMatchObject({
      'rollkeeper.decision': 'rolling-update',
      'rollkeeper.decision.summary': 'create web-1 with 3',
      'rollkeeper.max_surge': 3,
    });
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
    const decide = exporter.getFinishedSpans().find(({ name }) => name === 'decide');
    expect(decide?.attributes['rollkeeper.decision.summary']).toBe('create web-1 with 3');
  });

  it('says nothing where everything stays as it is', async () => {
    await run({ ...decision, changes: false, summary: '' });
    expect(lines).toEqual([]);
  });
});
