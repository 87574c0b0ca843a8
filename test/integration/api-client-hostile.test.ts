import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, fixedCredentials } from '../../src/client/api-client/index.js';
import { MAX_ANSWER_BYTES } from '../../src/client/api-client/connections.js';
import { MAX_LINE_BYTES } from '../../src/client/api-client/watch-stream.js';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import type { SharedInformer } from '../../src/client/informer/index.js';
import { InformerFactory } from '../../src/client/informer/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { Answer } from '../../src/testing/api-client-server.js';
import { ApiClientServer, json, stream } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

const PAGE = 500;
const pod = (name: string, resourceVersion: string, more: object = {}) => ({
  metadata: { name, namespace: 'a', uid: name, resourceVersion, ...more },
});
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const notStreamed = json(422, { kind: 'Status', code: 422, message: 'sendInitialEvents is forbidden' });
const quiet = stream([line('BOOKMARK', pod('', '1000'))], { end: false });

const MIB = 1024 * 1024;
/** The most that sockets may hold unread, MiB. */
const BUFFERED = 32;
/** The part of each endless answer that was sent, MiB. */
let sent: number[] = [];

/** Goes on for as long as the client listens. */
const endless =
  (code: number): Answer =>
  async (response: ServerResponse) => {
    const answer = sent.push(0) - 1;
    const piece = 'x'.repeat(MIB);
    response.writeHead(code, { 'content-type': 'application/json' });
    const closed = once(response, 'close');
    while (!response.destroyed) {
      sent[answer] = (sent[answer] ?? 0) + 1;
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
    }
  };

let server: ApiClientServer;
let client: HttpApiClient;
let stopper: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  server = await ApiClientServer.start();
  stopper = new AbortController();
  const connection = { serverUrl: server.url, tls: {}, credentials: fixedCredentials({}), source: 'test' };
  client = createHttpApiClient({ connection, userAgent: 'rollkeeper/test', clock: new SystemClock() });
});

afterEach(async () => {
  stopper.abort(new Error('the test is over'));
  await running;
  await client.close();
  await server.stop();
});

function cacheOf<T extends KubernetesObject>(type: ResourceType): SharedInformer<T> {
  const factory = new InformerFactory({
    client,
    clock: new SystemClock(),
    random: new SeededRandom(1),
    logger: silentLogger,
    maxBackoffMs: 200,
  });
  const informer = factory.informerFor<T>(type) as SharedInformer<T>;
  running = factory.run(stopper.signal);
  return informer;
}

it('a cluster of 50 000 pods comes in pages, each once, and whole', async () => {
  const count = 50_000;
  const asked: number[] = [];
  server.always((response, request) => {
    const query = new URL(request.url, server.url).searchParams;
    if (query.has('sendInitialEvents')) return notStreamed(response, request);
    if (query.has('watch')) return quiet(response, request);
    const from = Number(query.get('continue') ?? 0);
    const to = Math.min(from + Number(query.get('limit') ?? count), count);
    asked.push(from);
    const items = Array.from({ length: to - from }, (_, index) => pod(`p${from + index}`, '7'));
    const metadata = { resourceVersion: '900', ...(to < count && { continue: String(to) }) };
    return json(200, { kind: 'PodList', metadata, items })(response, request);
  });
  const pods = cacheOf(Pod);
  await waitFor(() => pods.hasSynced);
  expect(pods.lister.list()).toHaveLength(count);
  expect(pods.lister.get('a/p49999')).toBeDefined();
  expect(asked).toEqual(Array.from({ length: count / PAGE }, (_, page) => page * PAGE));
});

it('objects of a megabyte, unknown fields and nulls are taken as they come', async () => {
  const large = 'ä'.repeat(500_000);
  const nulls = { labels: null, deletionTimestamp: null, ownerReferences: null, finalizers: null };
  server
    .next(
      notStreamed,
      json(200, {
        metadata: { resourceVersion: '10', continue: null },
        items: [
          { ...pod('listed', '5', nulls), spec: { replicas: null, novelty: { a: [1] } }, status: null },
        ],
      }),
      stream(
        [
          line('ADDED', pod('large', '11', { annotations: { large } })),
          line('ADDED', { ...pod('watched', '12', nulls), spec: null }),
        ],
        { end: false },
      ),
    )
    .always(quiet);
  const cache = cacheOf(Deployment);
  await waitFor(() => cache.lister.get('a/watched'));
  expect(cache.lister.get('a/large')?.metadata.annotations).toEqual({ large });
  expect(cache.lister.get('a/watched')).toEqual(pod('watched', '12'));
  expect(cache.lister.get('a/listed')).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    ...pod('listed', '5'),
    spec: { novelty: { a: [1] } },
  });
});

it('an answer that is no object is not cached, and the cache is right as soon as the server is', async () => {
  const known = pod('known', '5');
  server
    .next(
      notStreamed,
      json(200, { metadata: { resourceVersion: '10' }, items: [known, null] }),
      json(200, { metadata: { resourceVersion: '10' }, items: [{ spec: {} }] }),
      json(200, []),
      json(200, {}),
      json(200, { kind: 'Status', status: 'Success', metadata: {} }),
      json(200, { metadata: { resourceVersion: '10' }, items: [known] }),
      stream([line('ADDED', { metadata: null })]),
      json(200, { metadata: { resourceVersion: '20' }, items: [known, pod('new', '15')] }),
      stream(['null\n']),
      json(200, { metadata: { resourceVersion: '30' }, items: [pod('new', '15')] }),
    )
    .always(quiet);
  const pods = cacheOf(Pod);
  const seen: string[] = [];
  pods.addEventHandler(({ type, object }) => seen.push(`${type} ${object.metadata.name}`));
  await waitFor(() => pods.lastSyncedResourceVersion === '1000');
  expect(seen).toEqual(['added known', 'added new', 'deleted known']);
});

it('an answer without an end is cut off before it fills the memory', async () => {
  sent = [];
  server
    .next(
      notStreamed,
      endless(200),
      json(200, { metadata: { resourceVersion: '10' }, items: [pod('p', '5')] }),
      endless(200),
      json(200, { metadata: { resourceVersion: '20' }, items: [pod('p', '5')] }),
      endless(500),
      json(200, { metadata: { resourceVersion: '20' }, items: [pod('p', '5')] }),
    )
    .always(quiet);
  const pods = cacheOf(Pod);
  await waitFor(() => pods.lastSyncedResourceVersion === '1000');
  expect(pods.lister.get('a/p')).toBeDefined();
  const limits = [MAX_ANSWER_BYTES, MAX_LINE_BYTES, MIB].map((bytes) => bytes / MIB + BUFFERED);
  expect(sent.map((mib, index) => mib <= (limits[index] ?? 0))).toEqual([true, true, true]);
});
