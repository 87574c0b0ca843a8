import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { bearerToken, createHttpApiClient, withWriteGuard } from '../../src/client/api-client/index.js';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { Lease, Node } from '../../src/machinery/kubernetes/index.js';
import { ApiClientServer, json, stream } from '../../src/testing/api-client-server.js';

let server: ApiClientServer;
let client: HttpApiClient;

beforeEach(async () => {
  server = await ApiClientServer.start();
  const connection = { serverUrl: server.url, tls: {}, credentials: bearerToken('secret'), source: 'test' };
  const [clock, random] = [new SystemClock(), new SeededRandom(1)];
  client = createHttpApiClient({ connection, userAgent: 'rollkeeper/test', clock, random });
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

const sent = () => server.received.map(({ method, url }) => `${method} ${url}`);
const accepted = () => server.received.map(({ headers }) => headers.accept);

describe('the metadata alone', () => {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
  const metadata = { name: 'held', namespace: 'a', uid: 'u', resourceVersion: '7' };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };

  it('is asked for as a view, of which the server may not know, and is named by its own type', async () => {
    server.always(json(200, { ...partial, metadata }));
    expect(await client.get(Lease, { namespace: 'a', name: 'held' }, { metadataOnly: true })).toEqual(lease);
    expect(accepted()).toEqual([
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
  });

  it('is listed', async () => {
    server.always(
      json(200, { kind: 'PartialObjectMetadataList', metadata: {}, items: [{ ...partial, metadata }] }),
    );
    expect((await client.list(Lease, { metadataOnly: true })).items).toEqual([lease]);
    expect(accepted()).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    ]);
  });

  it('is watched', async () => {
    const events = [
      { type: 'ADDED', object: { ...partial, metadata } },
      { type: 'BOOKMARK', object: { ...partial, metadata: { resourceVersion: '9' } } },
    ];
    server.always(stream(events.map((event) => `${JSON.stringify(event)}\n`)));
    const seen: unknown[] = [];
    const watch = { resourceVersion: '1', timeoutSeconds: 1, idleTimeoutMs: 5000, metadataOnly: true };
    for await (const event of client.watch(Lease, { ...watch, signal: new AbortController().signal }))
      seen.push(event);
    expect(seen).toEqual([
      { type: 'ADDED', object: lease },
      { type: 'BOOKMARK', resourceVersion: '9' },
    ]);
    expect(accepted()).toEqual([
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
  });
});

describe('the deletion of a collection', () => {
  it('is one request, with the policy, whose answer nobody needs in full', async () => {
    server.always(json(200, { kind: 'PartialObjectMetadataList', items: [] }));
    await client.deleteCollection(Lease, { namespace: 'a', propagationPolicy: 'Background' });
    await client.deleteCollection(Node, { labelSelector: 'a=b' });
    expect(sent()).toEqual([
      'DELETE /apis/coordination.k8s.io/v1/namespaces/a/leases',
      'DELETE /api/v1/nodes?labelSelector=a%3Db',
    ]);
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
    });
    expect(accepted()[0]).toContain('as=PartialObjectMetadataList');
  });

  it('does not begin when the right to write is gone', async () => {
    const reason = new Error('the lock was lost');
    const guarded = withWriteGuard(client, AbortSignal.abort(reason));
    await expect(guarded.deleteCollection(Lease, { namespace: 'a' })).rejects.toBe(reason);
    expect(sent()).toEqual([]);
  });
});

describe('discovery', () => {
  it('asks again by the ETag, and takes 304 for "as before"', async () => {
    const list = {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'g' },
          versions: [
            {
              version: 'v1',
              resources: [{ resource: 'things', responseKind: { kind: 'Thing' }, verbs: ['list'] }],
            },
          ],
        },
      ],
    };
    server.always((response, request) => {
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else
        return json(200, request.url === '/apis' ? list : { items: [] }, { etag: '"1"' })(response, request);
    });
    const first = await client.discover();
    expect(first.resources.map(({ kind }) => kind)).toEqual(['Thing']);
    expect(await client.discover()).toEqual(first);
    expect(server.received.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      undefined,
      '"1"',
      '"1"',
    ]);
  });
});
