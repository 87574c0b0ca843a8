import { SpanStatusCode, context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { untyped, Deployment, Pod } from '../../machinery/kubernetes/index.js';
import { recordingClient } from './api-client-recorder.fixture.js';
import { ApiStatusError } from './api-status-error.js';
import type { ApiClient } from './api-client.js';
import { ApiConnectionError } from './transport-errors.js';
import { delegatingClient, withOwnWrites } from './around-writes.js';
import { tellStatus } from '../../machinery/trace-context/index.js';
import { withSpans } from './with-spans.js';
import { withWriteGuard } from './with-write-guard.js';

const deployment = (resourceVersion?: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'a', name: 'web', resourceVersion },
  spec: { selector: {}, template: {} },
});
const ref = { namespace: 'a', name: 'web' };
const patch = { type: 'merge', body: {} } as const;

describe('withWriteGuard', () => {
  it('lets writes through with their own options until the signal aborts, and none afterwards', async () => {
    const { client, calls } = recordingClient(deployment('5'));
    const right = new AbortController();
    const guarded = withWriteGuard(client, right.signal);
    await guarded.update(Deployment, deployment(), { subresource: 'status' });
    expect(calls).toEqual([{ verb: 'update', options: { subresource: 'status', guard: right.signal } }]);

    right.abort(new Error('the lock is lost'));
    const writes = [
      () => guarded.create(Deployment, deployment()),
      () => guarded.update(Deployment, deployment()),
      () => guarded.patch(Deployment, ref, patch),
      () => guarded.delete(Deployment, ref),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow('the lock is lost');
    expect(calls).toHaveLength(1);
  });

  it('asks for the right to write before each write, and hands the question on for the attempts', async () => {
    const { client, calls } = recordingClient(deployment('5'));
    const { signal } = new AbortController();
    let mayWrite = true;
    const assertMayWrite = (): void => {
      if (!mayWrite) throw new Error('the lock has run out');
    };
    const guarded = withWriteGuard(client, signal, assertMayWrite);
    await guarded.update(Deployment, deployment());
    expect(calls).toEqual([{ verb: 'update', options: { guard: signal, assertMayWrite } }]);
    mayWrite = false;
    await expect(guarded.update(Deployment, deployment())).rejects.toThrow('the lock has run out');
    expect(calls).toHaveLength(1);
  });

  it('gives its signal to reads that have none', async () => {
    const { client, calls } = recordingClient(deployment());
    const right = new AbortController();
    const own = new AbortController();
    const guarded = withWriteGuard(client, right.signal);
    await guarded.get(Deployment, ref);
    await guarded.list(Deployment, { namespace: 'a', signal: own.signal });
    expect(calls).toEqual([
      { verb: 'get', options: { signal: right.signal } },
      { verb: 'list', options: { namespace: 'a', signal: own.signal } },
    ]);
  });
});

describe('withOwnWrites', () => {
  it('reports the resourceVersion of every write under its type, status and scale included', async () => {
    const record = vi.fn();
    const { client } = recordingClient(deployment('7'));
    const recording = withOwnWrites(client, record);
    await recording.create(untyped(Pod), deployment());
    await recording.update(Deployment, deployment(), { subresource: 'status' });
    await recording.patch(Deployment, ref, patch);
    expect(await recording.delete(Deployment, ref)).toEqual({ object: deployment('7') });
    await recording.get(Deployment, ref);
    expect(record.mock.calls).toEqual([
      ['pods', '7'],
      ['deployments.apps', '7'],
      ['deployments.apps', '7'],
      ['deployments.apps', '7'],
    ]);
  });

  it('reports nothing for a deletion that left nothing, for a Status, and for a failure', async () => {
    const record = vi.fn();
    const gone = withOwnWrites(recordingClient(undefined).client, record);
    expect(await gone.delete(Deployment, ref)).toEqual({});
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {} } as unknown as Deployment;
    await withOwnWrites(recordingClient(status).client, record).create(untyped(Pod), deployment());
    const failing = recordingClient(new ApiStatusError({ code: 409, reason: 'Conflict' }));
    await expect(withOwnWrites(failing.client, record).update(Deployment, deployment())).rejects.toThrow();
    expect(record).not.toHaveBeenCalled();
  });

  it('reports writes that may have been stored without an answer, with the version they replace, and no refusal', async () => {
    const note = vi.fn();
    const withError = (error: Error) => withOwnWrites(recordingClient(error).client, vi.fn(), note);
    const silent = withError(new ApiConnectionError('broken'));
    const write = { type: Deployment, ref: expect.objectContaining(ref) as unknown };
    await expect(silent.update(Deployment, deployment('5'))).rejects.toThrow('broken');
    await expect(silent.create(Deployment, deployment())).rejects.toThrow('broken');
    await expect(silent.delete(Deployment, ref, { preconditions: { resourceVersion: '6' } })).rejects.toThrow(
      'broken',
    );
    const internal = withError(new ApiStatusError({ code: 500, reason: 'InternalError' }));
    await expect(internal.patch(Deployment, ref, patch)).rejects.toThrow();
    const conflict = withError(new ApiStatusError({ code: 409, reason: 'Conflict' }));
    await expect(conflict.update(Deployment, deployment('5'))).rejects.toThrow();
    expect(note.mock.calls).toEqual([
      [{ ...write, verb: 'update', replaces: '5' }, 'none'],
      [{ ...write, verb: 'create' }, 'none'],
      [{ ...write, verb: 'delete', replaces: '6' }, 'none'],
      [{ ...write, verb: 'patch' }, 'failed'],
    ]);
  });
});

describe('withSpans', () => {
  const make = () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    return { clock: new FakeClock(), exporter, tracer: provider.getTracer('test') };
  };

  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(() => context.disable());

  it('makes one span of a write outside of spans, naming what was written, and none of a read', async () => {
    const { clock, exporter, tracer } = make();
    const client = withSpans(recordingClient(deployment('5')).client, tracer, clock);
    await client.get(Deployment, ref);
    await client.patch(Deployment, ref, patch, { subresource: 'status' });
    const [span, ...others] = exporter.getFinishedSpans();
    expect(others).toEqual([]);
    expect(span?.name).toBe('patch deployments/status');
    expect(span?.attributes).toEqual({
      'k8s.verb': 'patch',
      'k8s.resource': 'deployments.apps',
      'k8s.subresource': 'status',
      'k8s.object.key': 'a/web',
    });
  });

  it('marks a conflict, and keeps the status code of any refusal', async () => {
    const { clock, exporter, tracer } = make();
    for (const [code, reason] of [
      [409, 'Conflict'],
      [422, 'Invalid'],
    ] as const) {
      const failing = recordingClient(new ApiStatusError({ code, reason })).client;
      const client = withSpans(failing, tracer, clock);
      await expect(client.update(Deployment, deployment())).rejects.toThrow(ApiStatusError);
    }
    const [conflict, invalid] = exporter.getFinishedSpans();
    expect(conflict?.attributes).toMatchObject({
      'http.response.status_code': 409,
      'rollkeeper.conflict': true,
    });
    expect(conflict?.events).toEqual([]);
    expect(invalid?.attributes).toMatchObject({ 'http.response.status_code': 422 });
    expect(invalid?.attributes).not.toHaveProperty('rollkeeper.conflict');
    expect(invalid?.events).toHaveLength(1);
    expect(invalid?.status.code).toBe(SpanStatusCode.ERROR);
  });

  it('notes a write that succeeds as an event of the span that is active, with how it was answered', async () => {
    const { clock, exporter, tracer } = make();
    const { client } = recordingClient(deployment('5'));
    const update: ApiClient['update'] = async (...args) => {
      await clock.advance(7);
      tellStatus(200);
      return client.update(...args);
    };
    const spanned = withSpans({ ...delegatingClient(client), update }, tracer, clock);
    await tracer.startActiveSpan('sync', async (sync) => {
      await spanned.update(Deployment, deployment(), { subresource: 'status' });
      await spanned.delete(Deployment, ref);
      sync.end();
    });
    const [sync, ...others] = exporter.getFinishedSpans();
    expect(others).toEqual([]);
    expect(sync?.events).toMatchObject([
      {
        name: 'update deployments/status',
        attributes: {
          'k8s.verb': 'update',
          'k8s.resource': 'deployments.apps',
          'k8s.subresource': 'status',
          'k8s.object.key': 'a/web',
          'http.response.status_code': 200,
          'rollkeeper.took_ms': 7,
        },
      },
      { name: 'delete deployments', attributes: { 'k8s.verb': 'delete', 'k8s.object.key': 'a/web' } },
    ]);
    expect(sync?.attributes).toEqual({});
  });

  it('gives a write that fails a span, as long as the write took', async () => {
    const { clock, exporter, tracer } = make();
    const { client } = recordingClient(deployment('5'));
    const update = async (): Promise<never> => {
      await clock.advance(7);
      throw new ApiStatusError({ code: 409, reason: 'Conflict' });
    };
    const spanned = withSpans({ ...delegatingClient(client), update }, tracer, clock);
    await tracer.startActiveSpan('sync', async (sync) => {
      const failed = spanned.update(Deployment, deployment());
      await expect(failed).rejects.toThrow(ApiStatusError);
      sync.end();
    });
    const [write, sync] = exporter.getFinishedSpans();
    expect(sync?.events).toEqual([]);
    expect(write).toMatchObject({
      name: 'update deployments',
      duration: [0, 7e6],
      parentSpanContext: { spanId: sync?.spanContext().spanId },
      attributes: {
        'http.response.status_code': 409,
        'rollkeeper.conflict': true,
        'k8s.object.key': 'a/web',
      },
    });
  });
});
