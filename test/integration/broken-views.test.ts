import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { MemoryStorage, RedisStorage } from '../../src/apiserver/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';
import { startWebhookServer } from './support/webhook-server.js';
import type { WebhookServer } from './support/webhook-server.js';

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

let server: RunningApiServer | undefined;
let hook: WebhookServer | undefined;
afterEach(async () => {
  await server?.stop();
  await hook?.stop();
  server = hook = undefined;
});

async function namesIn(path: string, headers = {}): Promise<string[]> {
  const { body, status } = await server!.call('GET', path, undefined, headers);
  expect(status).toBe(200);
  const items = (body.items ?? body.rows.map(({ object }: Body) => object)) as Body[];
  return items.map(({ metadata }) => metadata.name as string);
}

const verbose = async (): Promise<string> => (await server!.call('GET', '/readyz?verbose')).text;

describe('an object that cannot be shown in another version than it is stored in', () => {
  const SCALERS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const spec = { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } };

  it('costs itself: lists, watches and the others go on, and it is deleted by its name', async () => {
    const storage = new MemoryStorage({ clock: new SystemClock() });
    const plant = (name: string) =>
      storage.create(
        { resource: 'horizontalpodautoscalers.autoscaling', namespace: 'default', name },
        {
          apiVersion: 'autoscaling/v2',
          kind: 'HorizontalPodAutoscaler',
          metadata: { name, namespace: 'default', uid: name, finalizers: ['example.com/never'] },
          ...{ spec: { ...spec, metrics: 5 } },
        },
      );
    await plant('before');
    server = await startApiServer({ storage });
    const { body } = await server.call('POST', SCALERS, { metadata: { name: 'good' }, spec });
    expect(await namesIn(SCALERS)).toEqual(['good']);
    expect(await namesIn(SCALERS, TABLE)).toEqual(['good']);
    expect(await verbose()).toContain('[!]objects: 1 in the store');
    expect(await server.call('GET', `${SCALERS}/before`)).toMatchObject({ status: 500 });

    const { resourceVersion } = body.metadata;
    const watch = server.call('GET', `${SCALERS}?watch=true&timeoutSeconds=2&resourceVersion=${resourceVersion}`);
    await plant('meanwhile');
    await server.call('POST', SCALERS, { metadata: { name: 'later' }, spec });
    const { text } = await watch;
    expect(text).toContain('"later"');
    expect(text).not.toMatch(/ERROR|meanwhile/);

    for (const name of ['before', 'meanwhile'])
      expect((await server.call('DELETE', `${SCALERS}/${name}`)).status).toBe(200);
    expect(await namesIn(SCALERS)).toEqual(['good', 'later']);
    expect(await verbose()).not.toContain('[!]objects');
  }); // prettier-ignore

  it('spoils no page that a webhook converts, which still fails as a whole where all of it is sound', async () => {
    const group = 'broken.example.com';
    const things = `/apis/${group}/v2/namespaces/default/things`;
    let fails = false;
    hook = await startWebhookServer(['convert.ops.svc'], ({ apiVersion, kind, request }) => {
      const isRefused = fails || request.objects.some((object: Body) => object.kind !== 'Thing');
      const convertedObjects = request.objects.map((object: Body) => ({
        ...object,
        apiVersion: request.desiredAPIVersion,
      }));
      const result = isRefused ? { status: 'Failure', message: 'not mine' } : { status: 'Success' };
      return { text: JSON.stringify({ apiVersion, kind, response: { uid: request.uid, convertedObjects, result } }) };
    });
    const storage = new MemoryStorage({ clock: new SystemClock() });
    server = await startApiServer({ storage, webhookServices: { 'ops/convert': hook.address } });
    const versionOf = (name: string) => ({
      name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: { type: 'object' } },
    });
    const clientConfig = { service: { namespace: 'ops', name: 'convert', path: '/' }, caBundle: hook.caBundle };
    const definition = {
      metadata: { name: `things.${group}` },
      spec: {
        group, scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
        versions: [versionOf('v1'), versionOf('v2')],
        conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      },
    };
    expect((await server.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)).status).toBe(201);
    const made = await server.call('POST', things, { apiVersion: `${group}/v2`, kind: 'Thing', metadata: { name: 'good' } });
    expect(made.status).toBe(201);
    const metadata = { name: 'bad', namespace: 'default', uid: 'bad' };
    await storage.create(
      { resource: `things.${group}`, namespace: 'default', name: 'bad' },
      { apiVersion: `${group}/v1`, kind: 'Other', metadata },
    );
    expect(await namesIn(things)).toEqual(['good']);
    expect(await verbose()).toContain('[!]objects: 1 in the store');
    fails = true;
    expect(await server.call('GET', things)).toMatchObject({ status: 500 });
    fails = false;
    expect((await server.call('DELETE', `${things}/bad`)).status).toBe(200);
    fails = true;
    expect(await server.call('GET', things)).toMatchObject({ status: 500, body: { message: expect.stringContaining('not mine') as string } });
  }); // prettier-ignore
});

describe('an object with fields of other types than its kind has', () => {
  it.each([
    ['pods', 'v1', 'Pod', { spec: 5, status: { containerStatuses: {}, conditions: 'all' } }, 'spec.nodeName=a'],
    ['pods', 'v1', 'Pod', { spec: null, status: 5 }, 'status.phase!=Running'],
    ['apiservices.apiregistration.k8s.io', 'apiregistration.k8s.io/v1', 'APIService', { spec: null, status: { conditions: 5 } }, 'metadata.name=good'],
    ['endpoints', 'v1', 'Endpoints', { subsets: 5 }, 'metadata.name!=good'],
    ['services', 'v1', 'Service', { spec: { ports: 5, clusterIPs: 5 }, status: [null] }, 'metadata.name!=good'],
  ])('spoils no table, and no list by selectors, and is deleted by its name: %s', async (resource, apiVersion, kind, fields, selector) => {
    const storage = new MemoryStorage({ clock: new SystemClock() });
    const namespace = apiVersion === 'v1' ? 'default' : '';
    const plant = (name: string, rest: object, labels: unknown) =>
      storage.create(
        { resource, namespace, name },
        { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), uid: name, labels: labels as Record<string, string> }, ...rest },
      );
    await plant('sound', { spec: {}, status: {} }, { a: 'b' });
    await plant('bad', fields, null);
    server = await startApiServer({ storage });
    const [plural, ...group] = resource.split('.');
    const path = `${group.length > 0 ? `/apis/${group.join('.')}/v1` : '/api/v1/namespaces/default'}/${plural}`;
    expect(await namesIn(path, TABLE)).toContain('sound');
    expect(await namesIn(`${path}?labelSelector=a%3Db`)).toEqual(['sound']);
    expect((await server.call('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`)).status).toBe(200);
    expect((await server.call('DELETE', `${path}/bad`)).status).toBe(200);
    expect((await server.call('GET', `${path}/bad`)).status).toBe(404);
  }); // prettier-ignore
});

describe('an APIService that cannot be understood', () => {
  it('costs itself: what it may have served is not found, and the others are listed', async () => {
    const keyPrefix = `broken-${randomUUID()}:`;
    const redis = new Redis(inject('redisUrl'));
    const base = `${keyPrefix}{storage}:`;
    const resource = 'apiservices.apiregistration.k8s.io';
    await redis.hset(`${base}objects:${resource}`, '\0v1.metrics.example.com', '1 {"spec":');
    await redis.zadd(`${base}index:${resource}`, 0, '\0v1.metrics.example.com');
    redis.disconnect();
    server = await startApiServer({ storage: new RedisStorage({ url: inject('redisUrl'), keyPrefix }) });
    expect((await server.call('GET', '/apis/metrics.example.com/v1/pods')).status).toBe(404);
    expect(await namesIn('/apis/apiregistration.k8s.io/v1/apiservices')).not.toContain(
      'v1.metrics.example.com',
    );
    await waitFor(async () => (await verbose()).includes('[!]objects: 1 in the store'));
    const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.metrics.example.com';
    expect((await server.call('DELETE', path)).status).toBe(200);
    expect(await verbose()).not.toContain('[!]objects');
  });
});
