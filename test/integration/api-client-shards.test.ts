import { afterAll, beforeAll, expect, it } from 'vitest';
import { ObjectShard, createHttpApiClient, fixedCredentials } from '../../src/client/api-client/index.js';
import type { WatchEvent } from '../../src/client/api-client/index.js';
import { InformerFactory } from '../../src/client/informer/index.js';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { ConfigMap, Pod, keyOf, shardRangeOf } from '../../src/machinery/kubernetes/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { ApiClientServer, json, stream } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { TOKEN, startApiServer } from './api-server-harness.js';

/** The hash of `shop` is in the first half, that of `bank` in the second. */
const SHARDS = [0, 1].map((index) => new ObjectShard('object.metadata.namespace', [shardRangeOf(index, 2)]));
const SHARD = SHARDS[0]!;
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const pod = (namespace: string, resourceVersion: string) => ({
  metadata: { name: 'x', namespace, uid: namespace, resourceVersion },
});

/** A server that does not know shards, which most are, until a test says otherwise. */
let unaware: ApiClientServer;
beforeAll(async () => {
  unaware = await ApiClientServer.start();
});
afterAll(() => unaware.stop());

function clientOf(serverUrl: string, token = '') {
  const credentials = fixedCredentials({ authorization: `Bearer ${token}` });
  const connection = { serverUrl, tls: {}, credentials, source: 'test' };
  return createHttpApiClient({ connection, userAgent: 'rollkeeper/test', clock: new SystemClock() });
}

async function collect(events: AsyncIterable<WatchEvent<KubernetesObject>>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events)
    seen.push(
      event.type === 'BOOKMARK'
        ? `bookmark ${event.resourceVersion}`
        : `${event.type} ${keyOf(event.object.metadata)}`,
    );
  return seen;
}

function watch() {
  const { signal } = new AbortController();
  const options = { resourceVersion: '1', timeoutSeconds: 60, idleTimeoutMs: 5_000, signal };
  return clientOf(unaware.url).watch(Pod, { ...options, shard: SHARD });
}

it('a list without the echo of its shard is filtered here, and one with it is taken as it is', async () => {
  const items = [pod('shop', '5'), pod('bank', '6')];
  const list = (metadata: object) => json(200, { kind: 'PodList', metadata, items });
  const client = clientOf(unaware.url);
  const read = async (metadata: object) => {
    unaware.next(list({ resourceVersion: '9', ...metadata }));
    const page = await client.list(Pod, { shard: SHARD });
    return [page.isShardSelected, ...page.items.map((item) => item.metadata.namespace)];
  };
  expect(await read({})).toEqual([false, 'shop']);
  expect(await read({ shardInfo: { selector: SHARDS[1]!.selector } })).toEqual([false, 'shop']);
  expect(await read({ shardInfo: { selector: SHARD.selector } })).toEqual([true, 'shop', 'bank']);
  const { searchParams } = new URL(unaware.received.at(-1)!.url, unaware.url);
  expect(searchParams.get('shardSelector')).toBe(SHARD.selector);
});

it('a watch skips the lines of other shards, of which it parses only the first, and knows how far it has come', async () => {
  const unparsable = line('MODIFIED', pod('bank', '7')).replace('}}', ',"spec":nothing}}');
  unaware.next(
    stream([
      line('ADDED', pod('shop', '5')) + line('ADDED', pod('bank', '6')) + unparsable,
      unparsable + line('ADDED', pod('shop', '8')),
      line('DELETED', pod('bank', '9')),
      line('MODIFIED', { metadata: { ...pod('bank', '10').metadata, uid: 'a\\b' } }),
      line('DELETED', pod('shop', '11')),
    ]),
  );
  expect(await collect(watch())).toEqual([
    ...['ADDED shop/x', 'bookmark 6', 'bookmark 7', 'ADDED shop/x'],
    ...['bookmark 9', 'bookmark 10', 'DELETED shop/x'],
  ]);
});

it('two informers on the API server share its objects, whatever changes', async () => {
  const server = await startApiServer();
  const stopper = new AbortController();
  const put = async (namespace: string, name: string): Promise<void> => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await server.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } });
  };
  await put('shop', 'first');
  await put('bank', 'first');
  const factories = SHARDS.map(
    (shard) =>
      new InformerFactory({
        ...{ client: clientOf(server.url, TOKEN), clock: new SystemClock() },
        ...{ random: new SeededRandom(1), logger: silentLogger, shards: [shard] },
      }),
  );
  const informers = factories.map((factory) => factory.informerFor(ConfigMap));
  const running = factories.map((factory) => factory.run(stopper.signal));
  await Promise.all(informers.map((informer) => informer.waitForSync(stopper.signal)));
  await put('shop', 'second');
  await put('bank', 'second');
  const shown = () =>
    informers.map(({ lister }) =>
      lister
        .list()
        .map(({ metadata }) => keyOf(metadata))
        .filter((key) => /^(?:shop|bank)\//.test(key))
        .sort(),
    );
  await waitFor(() => shown().every((keys) => keys.length >= 2));
  expect(shown()).toEqual([
    ['shop/first', 'shop/second'],
    ['bank/first', 'bank/second'],
  ]);
  expect(informers.map((informer) => informer.leavesOutShards)).toEqual([false, false]);
  stopper.abort();
  await Promise.all(running);
  await server.stop();
});
