import { SpanStatusCode, context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, fixedCredentials, withSpans } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { ApiClientServer, json } from '../../src/testing/api-client-server.js';

let server: ApiClientServer;
let client: HttpApiClient;
let exporter: InMemorySpanExporter;

beforeEach(async () => {
  exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  server = await ApiClientServer.start();
  server.always(json(200, { metadata: { name: 'p', resourceVersion: '5' } }));
  const connection = {
    serverUrl: `${server.url}/base/`,
    tls: {},
    credentials: fixedCredentials({}),
    source: 'test',
  };
  client = createHttpApiClient({ connection, userAgent: 'rollkeeper/test', clock: new SystemClock() });
});

afterEach(async () => {
  await client.close();
  await server.stop();
  trace.disable();
  context.disable();
  propagation.disable();
});

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'a', name: 'p' },
  spec: { containers: [] },
};

it('carries the span of a write that belongs to no work to the server', async () => {
  await withSpans(client, trace.getTracer('test'), new SystemClock()).create(Pod, pod);
  const [write, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect(write).toMatchObject({ name: 'create pods', attributes: { 'http.response.status_code': 200 } });
  const { traceId, spanId } = write?.spanContext() ?? {};
  expect(server.received[0]?.headers).toMatchObject({
    traceparent: `00-${traceId}-${spanId}-01`,
    tracestate: `rollkeeper=${spanId}`,
  });
});

it('lets a write go on from the work it belongs to, which covers it and tells how it was answered', async () => {
  const tracer = trace.getTracer('test');
  const traced = withSpans(client, tracer, new SystemClock());
  await tracer.startActiveSpan('sync', async (sync) => {
    await traced.create(Pod, pod);
    await traced.update(Pod, pod, { subresource: 'status' });
    sync.end();
  });
  const [sync, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect(sync?.events.map(({ name }) => name)).toEqual(['create pods', 'update pods/status']);
  for (const { attributes } of sync?.events ?? [])
    expect(attributes?.['http.response.status_code']).toBe(200);
  expect(sync?.attributes).toEqual({});
  const { traceId, spanId } = sync?.spanContext() ?? {};
  for (const { headers } of server.received)
    expect(headers).toMatchObject({
      traceparent: `00-${traceId}-${spanId}-01`,
      tracestate: `rollkeeper=${spanId}`,
    });
});

it('gives a write that fails a span below its work, with the status', async () => {
  server.always(json(409, { kind: 'Status', code: 409, reason: 'Conflict', message: 'changed' }));
  const tracer = trace.getTracer('test');
  const traced = withSpans(client, tracer, new SystemClock());
  await tracer.startActiveSpan('sync', async (sync) => {
    await expect(traced.update(Pod, pod)).rejects.toThrow('changed');
    sync.end();
  });
  const [write, sync] = exporter.getFinishedSpans();
  expect(sync?.events).toEqual([]);
  expect(write).toMatchObject({
    name: 'update pods',
    parentSpanContext: { spanId: sync?.spanContext().spanId },
    attributes: { 'http.response.status_code': 409, 'rollkeeper.conflict': true },
  });
});

it('claims to cover no request that only belongs to a span', async () => {
  await trace
    .getTracer('test')
    .startActiveSpan('sync', (sync) => client.create(Pod, pod).finally(() => sync.end()));
  expect(server.received[0]?.headers).toHaveProperty('traceparent');
  expect(server.received[0]?.headers).not.toHaveProperty('tracestate');
});

it('tells in the span of a write with which status the server failed', async () => {
  server.always(json(503, { kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'down' }));
  const failed = withSpans(client, trace.getTracer('test'), new SystemClock()).create(Pod, pod);
  await expect(failed).rejects.toThrow();
  const [write] = exporter.getFinishedSpans();
  expect(write?.status.code).toBe(SpanStatusCode.ERROR);
  expect(write?.attributes['http.response.status_code']).toBe(503);
});

it('sends no traceparent without a span, and keeps the path of the server’s URL', async () => {
  await client.get(Pod, pod.metadata);
  expect(server.received[0]?.headers).not.toHaveProperty('traceparent');
  expect(server.received[0]?.url).toBe('/base/api/v1/namespaces/a/pods/p');
});
