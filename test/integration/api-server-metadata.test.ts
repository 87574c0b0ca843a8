import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { bearerToken, createHttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Event, Lease, Node, Pod } from '../../src/machinery/kubernetes/index.js';
import type { RunningApiServer } from './api-server-harness.js';
import { TOKEN, podBody, startApiServer } from './api-server-harness.js';

let server: RunningApiServer;
let client: HttpApiClient;

beforeAll(async () => {
  server = await startApiServer();
  client = createHttpApiClient({
    connection: { serverUrl: server.url, tls: {}, credentials: bearerToken(TOKEN), source: 'test' },
    userAgent: 'rollkeeper/test',
    clock: new SystemClock(),
    random: new SystemRandom(),
  });
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'meta' } });
});

afterAll(async () => {
  await client.close();
  await server.stop();
});

const FIELDS = ['apiVersion', 'kind', 'metadata'];

describe('the metadata of objects alone', () => {
  it('is got, listed in pages and watched under the name of its own type', async () => {
    for (const name of ['a', 'b', 'c'])
      await client.create(Pod, podBody(name, { namespace: 'meta' }) as never);
    const got = await client.get(Pod, { namespace: 'meta', name: 'a' }, { metadataOnly: true });
    const list = await client.list(Pod, { namespace: 'meta', metadataOnly: true, limit: 2 });
    const rest = await client.list(Pod, {
      namespace: 'meta',
      metadataOnly: true,
      limit: 2,
      continueToken: list.continueToken,
    });
    expect([...list.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    const whole = await client.get(Pod, { namespace: 'meta', name: 'a' });
    for (const object of [got, list.items[0]]) {
      expect(Object.keys(object ?? {}).sort()).toEqual(FIELDS);
      expect(object).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: whole.metadata });
    }

    const { resourceVersion } = list;
    await client.patch(
      Pod,
      { namespace: 'meta', name: 'a' },
      { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
    );
    await client.delete(Pod, { namespace: 'meta', name: 'b' });
    const stop = new AbortController();
    const seen: { type: string; object: KubernetesObject }[] = [];
    const watch = { resourceVersion, timeoutSeconds: 5, idleTimeoutMs: 10_000, metadataOnly: true };
    for await (const event of client.watch(Pod, { ...watch, signal: stop.signal })) {
      if (event.type !== 'BOOKMARK') seen.push(event);
      if (seen.length === 2) break;
    }
    expect(seen.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`)).toEqual([
      'MODIFIED Pod a',
      'DELETED Pod b',
    ]);
    for (const { object } of seen) expect(Object.keys(object).sort()).toEqual(FIELDS);
  });
});

describe('discovery', () => {
  it('is answered 304 to who has it already, in the aggregated form', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    for (const path of ['/api', '/apis']) {
      const { headers, status } = await server.call('GET', path, undefined, { accept });
      const etag = headers.get('etag') ?? '';
      const again = await server.call('GET', path, undefined, { accept, 'if-none-match': etag });
      expect([status, again.status, again.text]).toEqual([200, 304, '']);
    }
    expect(await client.discover()).toEqual(await client.discover());
    const { resources, failedGroups } = await client.discover();
    expect(failedGroups).toEqual([]);
    for (const type of [Pod, Node, Lease]) {
      expect(resources).toContainEqual(
        expect.objectContaining({ ...type, verbs: expect.arrayContaining(['delete', 'list', 'watch']) }),
      );
    }
  });
});

describe('an event', () => {
  const event = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'meta' },
    involvedObject: { kind: 'Pod', namespace: 'meta', name: 'a' },
    reason: 'Test',
    message: 'a test',
    type: 'Normal',
  });

  it.each(['Foreground', 'Orphan', 'Background'] as const)(
    'goes at once when it is deleted with the policy %s',
    async (propagationPolicy) => {
      const name = propagationPolicy.toLowerCase();
      await client.create(Event, event(name));
      expect(await client.delete(Event, { namespace: 'meta', name }, { propagationPolicy })).toEqual({});
      const { status } = await server.call('GET', `/api/v1/namespaces/meta/events/${name}`);
      expect(status).toBe(404);
    },
  );
});

describe('a collection', () => {
  it('is deleted by one request, and what finalizers hold stays', async () => {
    const lease = (name: string, finalizers: string[] = []) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'meta', finalizers },
    });
    for (const name of ['l1', 'l2']) await client.create(Lease, lease(name));
    await client.create(Lease, lease('held', ['example.com/hold']));
    await client.deleteCollection(Lease, { namespace: 'meta', propagationPolicy: 'Background' });
    const { items } = await client.list(Lease, { namespace: 'meta', metadataOnly: true });
    expect(items.map(({ metadata }) => [metadata.name, metadata.deletionTimestamp !== undefined])).toEqual([
      ['held', true],
    ]);
  });
});

describe('a name', () => {
  it('is given to a LimitRange that has none', async () => {
    const path = '/api/v1/namespaces/meta/limitranges';
    const { body } = await server.call('POST', path, { metadata: {}, spec: { limits: [] } });
    const { name } = (body as KubernetesObject).metadata;
    expect(name).toMatch(/^[0-9a-f-]{36}$/);
    expect((await server.call('GET', `${path}/${name}`)).status).toBe(200);
  });

  // Without a kind it is taken for what it was; without a version, a genuine server cannot read it.
  it.each([
    ['kind', 5, 'number', 200],
    ['apiVersion', {}, 'object', 400],
    ['kind', [true], 'array', 200],
  ])('is refused in a patch of its %s if it is no text (%j)', async (field, value, type, codeOfNone) => {
    const path = '/api/v1/namespaces/meta/serviceaccounts/default';
    const nothing = JSON.stringify([{ op: 'add', path: `/${field}`, value: null }]);
    const json = { 'content-type': 'application/json-patch+json' };
    expect((await server.call('PATCH', path, nothing, json)).status).toBe(codeOfNone);
    const answer = await server.call(
      'PATCH',
      path,
      { [field]: value },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: expect.stringContaining(
          `json: cannot unmarshal ${type} into Go struct field .${field} of type string`,
        ) as string,
      },
    });
  });
});

describe('a word that every JavaScript object knows', () => {
  it('is a type of Secrets like any other', async () => {
    const path = '/api/v1/namespaces/meta/secrets';
    for (const type of ['constructor', 'toString']) {
      const secret = { metadata: { name: type.toLowerCase() }, type };
      expect((await server.call('POST', path, secret)).status).toBe(201);
    }
  });
});
