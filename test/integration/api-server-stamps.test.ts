import { context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const PATH = '/apis/apps/v1/namespaces/default/deployments';
const STAMP = 'rollkeeper.dev/traceparent';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traced = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
const merge = { 'content-type': 'application/merge-patch+json' };
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', annotations: { mine: '1' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
  },
};

interface Stored {
  metadata: { resourceVersion: string; annotations: Record<string, string> };
  spec: { template: { metadata: { annotations?: object } } };
}

describe('the API server', () => {
  let server: RunningApiServer;
  let exporter: InMemorySpanExporter;

  beforeEach(async () => {
    exporter = new InMemorySpanExporter();
    server = await startApiServer();
  });

  afterEach(async () => {
    await server.stop();
    trace.disable();
    context.disable();
    propagation.disable();
  });

  const record = (): void =>
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  const get = async (): Promise<Stored> => (await server.call('GET', `${PATH}/web`)).body as Stored;
  const patch = (body: object, query = ''): Promise<{ status: number }> =>
    server.call('PATCH', `${PATH}/web${query}`, body, { ...merge, ...traced });

  it('notes on what it stores which span wrote it, within the trace that the client named', async () => {
    record();
    await server.call('POST', PATH, web, traced);
    const [span] = exporter.getFinishedSpans();
    const { annotations } = (await get()).metadata;
    expect(annotations).toEqual({
      mine: '1',
      [STAMP]: expect.stringContaining(`00-${TRACE}-${span?.spanContext().spanId}-01;at=20`),
    });
  });

  it('notes the client’s own span where that covers the request, and makes none', async () => {
    record();
    await server.call('POST', PATH, web, { ...traced, tracestate: 'rollkeeper=b7ad6b7169203331' });
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect((await get()).metadata.annotations[STAMP]).toContain(`${traced.traceparent};at=20`);
  });

  it('begins a trace where the client names none, but not for heartbeats and events', async () => {
    record();
    await server.call('POST', PATH, web);
    await server.call('POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'beat' },
    });
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['POST deployments']);
    expect((await get()).metadata.annotations[STAMP]).toBeDefined();
  });

  it('leaves what a node writes of a pod without a trace, and the pod’s own trace as it is', async () => {
    record();
    const pods = '/api/v1/namespaces/default/pods';
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: web.spec.template.spec };
    await server.call('POST', pods, pod, traced);
    const stampOf = async (): Promise<string | undefined> =>
      ((await server.call('GET', `${pods}/p`)).body as Stored).metadata.annotations[STAMP];
    const creation = await stampOf();
    expect(creation).toContain(TRACE);
    const target = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { name: 'n' } };
    expect((await server.call('POST', `${pods}/p/binding`, target)).status).toBe(201);
    const status = { status: { phase: 'Running' } };
    expect((await server.call('PATCH', `${pods}/p/status`, status, merge)).status).toBe(200);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['POST pods']);
    expect(await stampOf()).toBe(creation);
    await server.call('PATCH', `${pods}/p/status`, { status: { phase: 'Failed' } }, { ...merge, ...traced });
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['POST pods', 'PATCH pods/status']);
    expect(await stampOf()).not.toBe(creation);
  });

  it('makes no write out of a patch that changes nothing, and stamps no dry run', async () => {
    record();
    await server.call('POST', PATH, web, traced);
    const before = await get();
    expect((await patch({ spec: { paused: false } })).status).toBe(200);
    expect((await patch({ metadata: { labels: { a: '1' } } }, '?dryRun=All')).status).toBe(200);
    expect(await get()).toEqual(before);
    await patch({ metadata: { labels: { a: '1' } } });
    const after = await get();
    expect(after.metadata.annotations[STAMP]).not.toBe(before.metadata.annotations[STAMP]);
    expect(after.spec.template.metadata.annotations).toBeUndefined();
  });

  it('leaves objects alone where tracing is off, whatever clients send', async () => {
    await server.call('POST', PATH, web, { ...traced, tracestate: 'rollkeeper=b7ad6b7169203331' });
    await patch({ spec: { replicas: 3 } });
    expect((await get()).metadata.annotations).toEqual({ mine: '1' });
  });

  it('serves its metrics to those with the token only', async () => {
    const url = `${server.url}/metrics`;
    expect((await fetch(url)).status).toBe(403);
    expect((await server.call('GET', '/metrics')).status).toBe(200);
  });
});
