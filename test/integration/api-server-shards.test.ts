import { afterAll, beforeAll, expect, it } from 'vitest';
import { shardHash, shardRangeOf, shardSelectorText } from '../../src/machinery/kubernetes/index.js';
import type { ShardField } from '../../src/machinery/kubernetes/index.js';
import { startApiServer, TOKEN } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
  for (const namespace of NAMESPACES) {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    for (const name of ['a', 'b'])
      await server.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, configMap(name));
  }
});
afterAll(() => server.stop());

/** Names that differ at their ends alone would all be in one half: the last bytes hardly change the first bits of the hash. */
const NAMESPACES = ['bank', 'mail', 'maps', 'news', 'search', 'shop'];
const NAMESPACE: ShardField = 'object.metadata.namespace';
const ALL = '/api/v1/configmaps';

function configMap(name: string) {
  return { metadata: { name, labels: { app: 'shards' } } };
}

function selectorOf(index: number, count: number, field: ShardField = NAMESPACE): string {
  return shardSelectorText(field, [shardRangeOf(index, count)]);
}

function query(shardSelector: string, more: Record<string, string> = {}): string {
  return `${ALL}?${new URLSearchParams({ labelSelector: 'app=shards', ...more, shardSelector }).toString()}`;
}

function namesIn(list: Body): string[] {
  return list.items.map(({ metadata }: Body) => `${metadata.namespace}/${metadata.name}`);
}

function inHalf(index: number): string[] {
  const half = (name: string): number => Number(shardHash(name) >> 63n);
  return NAMESPACES.filter((name) => half(name) === index).flatMap((name) => [`${name}/a`, `${name}/b`]);
}

it('each object is in the list of exactly one shard, which echoes the selector in one form', async () => {
  for (const index of [0, 1]) {
    const { body } = await server.call('GET', query(selectorOf(index, 2).replaceAll(', ', ' ,  ')));
    expect(body.metadata.shardInfo).toEqual({ selector: selectorOf(index, 2) });
    expect(namesIn(body)).toEqual(inHalf(index));
    expect(namesIn(body)).not.toEqual([]);
  }
});

it('the shards of UIDs make up all objects', async () => {
  const lists = await Promise.all(
    [0, 1, 2].map((index) => server.call('GET', query(selectorOf(index, 3, 'object.metadata.uid')))),
  );
  const names = lists.flatMap(({ body }) => namesIn(body)).sort();
  expect(names).toEqual([...inHalf(0), ...inHalf(1)].sort());
});

it('a page of a shard is as long as asked for, and says nothing of how many objects remain', async () => {
  const url = `${ALL}?${new URLSearchParams({ limit: '1', shardSelector: selectorOf(0, 1) }).toString()}`;
  const { body } = await server.call('GET', url);
  expect(body.items).toHaveLength(1);
  expect(body.metadata.continue).toEqual(expect.any(String));
  expect(body.metadata).not.toHaveProperty('remainingItemCount');
});

it('a list of one object that is in another shard is empty', async () => {
  const [other] = inHalf(1);
  const [namespace, name] = other!.split('/');
  const path = (index: number): string =>
    `/api/v1/namespaces/${namespace}/configmaps?${new URLSearchParams({
      fieldSelector: `metadata.name=${name}`,
      shardSelector: selectorOf(index, 2),
    }).toString()}`;
  expect((await server.call('GET', path(0))).body.items).toEqual([]);
  expect((await server.call('GET', path(1))).body.items).toHaveLength(1);
});

it('a list without a shard, a table and bare metadata have no echo', async () => {
  const { body: whole } = await server.call('GET', ALL);
  expect(whole.metadata).not.toHaveProperty('shardInfo');
  for (const as of ['Table', 'PartialObjectMetadataList']) {
    const accept = `application/json;as=${as};g=meta.k8s.io;v=v1`;
    const { body } = await server.call('GET', query(selectorOf(0, 2)), undefined, { accept });
    expect((body.rows ?? body.items).length).toBe(inHalf(0).length);
    expect(body.metadata).not.toHaveProperty('shardInfo');
  }
});

it('a list in protobuf has the echo as well', async () => {
  const accept = 'application/vnd.kubernetes.protobuf';
  const { text } = await server.call('GET', query(selectorOf(0, 2)), undefined, { accept });
  expect(text).toContain(selectorOf(0, 2));
});

it('a malformed selector is refused alike by lists, watches and deletions of collections', async () => {
  const message = 'invalid shard selector: unsupported function "hash"; only shardRange() and || are allowed';
  for (const [method, more] of [
    ['GET', {}],
    ['GET', { watch: 'true' }],
    ['DELETE', { dryRun: 'All' }],
  ] as const) {
    const url = `/api/v1/namespaces/bank/configmaps?${new URLSearchParams({ ...more, shardSelector: 'hash(1)' }).toString()}`;
    const { body, status } = await server.call(method, url);
    expect({ status, message: body.message, reason: body.reason }).toEqual({
      status: 500,
      message,
      reason: undefined,
    });
  }
});

it.each([
  ['JSON', {}],
  ['metadata alone', { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }],
])(
  'a watch of a shard, as %s, begins with its objects and shows only their changes',
  async (name, headers) => {
    const stop = new AbortController();
    const response = await fetch(server.url + query(selectorOf(1, 2), { watch: 'true' }), {
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      signal: stop.signal,
    });
    const events = linesOf(response.body!);
    const begun: string[] = [];
    while (begun.length < inHalf(1).length) begun.push(nameOf((await events.next()).value));
    expect(begun).toEqual(inHalf(1));
    const patch = { 'content-type': 'application/merge-patch+json' };
    for (const index of [0, 1]) {
      const [namespace, changed] = inHalf(index)[0]!.split('/');
      const path = `/api/v1/namespaces/${namespace}/configmaps/${changed}`;
      await server.call('PATCH', path, { metadata: { annotations: { seenAs: name } } }, patch);
    }
    const { value } = await events.next();
    expect([value.type, nameOf(value)]).toEqual(['MODIFIED', inHalf(1)[0]]);
    stop.abort();
  },
);

it('a deletion of a collection deletes the objects of the shard alone', async () => {
  for (const name of ['c', 'd'])
    await server.call('POST', `/api/v1/namespaces/bank/secrets`, { metadata: { name } });
  const own = shardHash('bank') >> 63n === 0n ? 0 : 1;
  const path = (index: number): string =>
    `/api/v1/namespaces/bank/secrets?${new URLSearchParams({ shardSelector: selectorOf(index, 2) }).toString()}`;
  const secrets = async (): Promise<number> =>
    (await server.call('GET', '/api/v1/namespaces/bank/secrets')).body.items.length;
  await server.call('DELETE', path(1 - own));
  expect(await secrets()).toBe(2);
  const { body } = await server.call('DELETE', path(own));
  expect(body.metadata.shardInfo).toEqual({ selector: selectorOf(own, 2) });
  expect(await secrets()).toBe(0);
});

function nameOf({ object: { metadata } }: Body): string {
  return `${metadata.namespace}/${metadata.name}`;
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Body, Body> {
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
  return undefined;
}
