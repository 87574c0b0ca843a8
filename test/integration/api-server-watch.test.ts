import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podBody, startApiServer, TOKEN } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const MERGE = { 'content-type': 'application/merge-patch+json' };

let server: RunningApiServer;
let counter = 0;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

/** The path of the pods of a namespace that only one test uses. */
async function ownPods(): Promise<string> {
  const name = `watch-${++counter}`;
  await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
  return `/api/v1/namespaces/${name}/pods`;
}

/** An open watch, of which events are taken as they come. */
async function open(path: string, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await fetch(server.url + path, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    signal: stop.signal,
  });
  expect(response.status).toBe(200);
  const events = eventsOf(response.body!);
  return {
    /** Fewer than asked for when the watch ends before. */
    async take(count: number): Promise<Body[]> {
      const taken: Body[] = [];
      while (taken.length < count) {
        const next = await events.next();
        if (next.done) break;
        taken.push(next.value);
      }
      return taken;
    },
    close: () => stop.abort(),
  };
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Body> {
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}

/** The first events of a watch, or all when it ends before. */
async function watch(path: string, count: number, headers: Record<string, string> = {}): Promise<Body[]> {
  const watching = await open(path, headers);
  const events = await watching.take(count);
  watching.close();
  return events;
}

const summary = (events: Body[]) => events.map(({ type, object }) => [type, object.metadata?.name]);

describe('a watch', () => {
  it('takes the place of a list: what there is, a mark behind it, then what happens', async () => {
    const pods = await ownPods();
    await server.call('POST', pods, podBody('a'));
    const { body } = await server.call('POST', pods, podBody('b'));
    const watching = await open(
      `${pods}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=${body.metadata.resourceVersion}`,
    );
    const [first, second, mark] = await watching.take(3);
    expect(summary([first, second])).toEqual([
      ['ADDED', 'a'],
      ['ADDED', 'b'],
    ]);
    expect(mark.type).toBe('BOOKMARK');
    expect(mark.object.kind).toBe('Pod');
    expect(mark.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect(Number(mark.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(body.metadata.resourceVersion),
    );
    await server.call('POST', pods, podBody('c'));
    expect(summary(await watching.take(1))).toEqual([['ADDED', 'c']]);
    watching.close();
  });

  it('with sendInitialEvents=false shows only what happens from now on', async () => {
    const pods = await ownPods();
    await server.call('POST', pods, podBody('old'));
    const watching = await open(
      `${pods}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
    );
    await server.call('POST', pods, podBody('new'));
    expect(summary(await watching.take(1))).toEqual([['ADDED', 'new']]);
    watching.close();
  });

  it.each([
    [
      'sendInitialEvents=true',
      422,
      /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
    ],
    [
      'resourceVersionMatch=NotOlderThan&resourceVersion=1',
      422,
      /forbidden for watch unless sendInitialEvents/,
    ],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=999999999',
      504,
      /Too large resource version/,
    ],
  ])('refuses %s', async (query, status, words) => {
    const answer = await server.call('GET', `/api/v1/pods?watch=true&${query}`);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(words);
  });

  it('without a version shows what there is, then what happens', async () => {
    const pods = await ownPods();
    await server.call('POST', pods, podBody('old'));
    const watching = await open(`${pods}?watch=true`);
    expect(summary(await watching.take(1))).toEqual([['ADDED', 'old']]);
    await server.call('POST', pods, podBody('new'));
    await server.call('PATCH', `${pods}/new`, { metadata: { labels: { a: 'b' } } }, MERGE);
    await server.call('DELETE', `${pods}/new`);
    expect(summary(await watching.take(3))).toEqual([
      ['ADDED', 'new'],
      ['MODIFIED', 'new'],
      ['DELETED', 'new'],
    ]);
    watching.close();
  });

  it('from a version shows every later change once, in order, with growing versions', async () => {
    const pods = await ownPods();
    const { body: list } = await server.call('GET', pods);
    await server.call('POST', pods, podBody('a'));
    await server.call('PATCH', `${pods}/a`, { metadata: { labels: { x: '1' } } }, MERGE);
    await server.call('DELETE', `${pods}/a`);
    const events = await watch(`${pods}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, 3);
    expect(summary(events)).toEqual([
      ['ADDED', 'a'],
      ['MODIFIED', 'a'],
      ['DELETED', 'a'],
    ]);
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
  });

  it('with a selector shows objects come and go as they match', async () => {
    const pods = await ownPods();
    const { body: list } = await server.call('GET', pods);
    await server.call('POST', pods, podBody('other', { labels: { app: 'no' } }));
    await server.call('POST', pods, podBody('p', { labels: { app: 'no' } }));
    await server.call('PATCH', `${pods}/p`, { metadata: { labels: { app: 'yes' } } }, MERGE);
    await server.call('PATCH', `${pods}/p`, { metadata: { labels: { b: 'c' } } }, MERGE);
    await server.call('PATCH', `${pods}/p`, { metadata: { labels: { app: 'no' } } }, MERGE);
    const query = `watch=true&labelSelector=app%3Dyes&resourceVersion=${list.metadata.resourceVersion}`;
    expect(summary(await watch(`${pods}?${query}`, 3))).toEqual([
      ['ADDED', 'p'],
      ['MODIFIED', 'p'],
      ['DELETED', 'p'],
    ]);
  });

  it('ends by itself after timeoutSeconds', async () => {
    const pods = await ownPods();
    expect(await watch(`${pods}?watch=true&timeoutSeconds=1`, 1)).toEqual([]);
  });

  it('from a version that is gone says 410 in an ERROR event', async () => {
    const pods = await ownPods();
    const { body: list } = await server.call('GET', pods);
    await server.call('POST', pods, podBody('a'));
    await server.storage.compact(await server.storage.currentRevision());
    const events = await watch(`${pods}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, 1);
    expect(events).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ]);
  });

  it('as a Table tells the columns once', async () => {
    const pods = await ownPods();
    await server.call('POST', pods, podBody('a'));
    await server.call('POST', pods, podBody('b'));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const events = await watch(`${pods}?watch=true`, 2, { accept });
    expect(
      events.map(({ object }) => [object.kind, object.rows[0].cells[0], object.columnDefinitions === null]),
    ).toEqual([
      ['Table', 'a', false],
      ['Table', 'b', true],
    ]);
  });

  it('is of one object alone by the path of that object', async () => {
    const pods = await ownPods();
    await server.call('POST', pods, podBody('one'));
    await server.call('POST', pods, podBody('two'));
    const watching = await open(`${pods.replace('/v1/', '/v1/watch/')}/two`);
    expect(summary(await watching.take(1))).toEqual([['ADDED', 'two']]);
    await server.call('PATCH', `${pods}/one`, { metadata: { labels: { a: 'b' } } }, MERGE);
    await server.call('PATCH', `${pods}/two`, { metadata: { labels: { a: 'b' } } }, MERGE);
    expect(summary(await watching.take(1))).toEqual([['MODIFIED', 'two']]);
    watching.close();
    const { text } = await server.call('GET', `${pods}/two?watch=true`);
    expect(JSON.parse(text).kind, 'the parameter is for collections').toBe('Pod');
  });

  it('ends cleanly when the server stops', async () => {
    const other = await startApiServer();
    const response = await fetch(`${other.url}/api/v1/pods?watch=true`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = response.text();
    await other.stop();
    expect(await text).toBe('');
  });

  it('does not hold up a stop by its connection, which falls idle with it', async () => {
    // Longer than a test may take: only a connection that is closed lets this stop end.
    const other = await startApiServer({ drainTimeoutMs: 3_600_000 });
    const client = connect(Number(new URL(other.url).port), '127.0.0.1');
    const received = new Promise<string>((resolve) => client.once('data', (data) => resolve(String(data))));
    client.write(`GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
    expect(await received).toContain('200 OK');
    await other.stop();
    client.destroy();
  });
});
