import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient, WatchEvent, WatchOptions } from '../../src/client/api-client/index.js';
import {
  ApiConnectionError,
  ApiProtocolError,
  ApiStatusError,
  WatchErrorEvent,
  createHttpApiClient,
  fixedCredentials,
  isExpired,
} from '../../src/client/api-client/index.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { TimeoutError } from '../../src/machinery/errors/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { ApiClientServer, json, silence, stream } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

let server: ApiClientServer;
let client: HttpApiClient;
let clock: FakeClock;
let stopper: AbortController;

beforeEach(async () => {
  server = await ApiClientServer.start();
  clock = new FakeClock();
  stopper = new AbortController();
  const connection = { serverUrl: server.url, tls: {}, credentials: fixedCredentials({}), source: 'test' };
  client = createHttpApiClient({ connection, userAgent: 'rollkeeper/test', clock });
});

afterEach(async () => {
  expect(clock.pendingTimers, 'a watch that is over leaves no timer').toBe(0);
  await client.close();
  await server.stop();
});

const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const pod = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', resourceVersion },
});

function watch(options: Partial<WatchOptions> = {}): AsyncIterable<WatchEvent<KubernetesObject>> {
  return client.watch(Pod, {
    resourceVersion: '5',
    timeoutSeconds: 60,
    idleTimeoutMs: 65_000,
    signal: stopper.signal,
    ...options,
  });
}

/** Everything up to the end, and the error that was the end, if any. */
async function collect(events: AsyncIterable<WatchEvent<KubernetesObject>>) {
  const seen: string[] = [];
  try {
    for await (const event of events) {
      seen.push(
        event.type === 'BOOKMARK'
          ? `bookmark ${event.resourceVersion}`
          : `${event.type} ${event.object.metadata.name}`,
      );
    }
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}

describe('a watch', () => {
  it('gives events and bookmarks until the server ends it', async () => {
    server.always(
      stream([
        line('ADDED', pod('x', '6')) + line('MODIFIED', pod('x', '7')),
        line('BOOKMARK', pod('', '9')),
        line('DELETED', pod('x', '10')),
      ]),
    );
    expect(await collect(watch({ namespace: 'a', labelSelector: 'app=x' }))).toEqual({
      seen: ['ADDED x', 'MODIFIED x', 'bookmark 9', 'DELETED x'],
      error: undefined,
    });
    const url = new URL(server.received[0]?.url ?? '', server.url);
    expect(url.pathname).toBe('/api/v1/namespaces/a/pods');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: '5',
      timeoutSeconds: '60',
      labelSelector: 'app=x',
    });
  });

  it('puts together an event that arrives in pieces, cut within a character', async () => {
    const bytes = Buffer.from(line('ADDED', pod('größe-🙂', '6')));
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    server.always(stream(pieces));
    expect(await collect(watch())).toEqual({ seen: ['ADDED größe-🙂'], error: undefined });
  });

  it('delivers an event without waiting for the next', async () => {
    server.always(stream([line('ADDED', pod('x', '6'))], { end: false }));
    const events = watch()[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ type: 'ADDED' });
    await events.return?.();
  });

  it('fails with 410 for an ERROR event that says so', async () => {
    const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    server.always(stream([line('ADDED', pod('x', '6')), line('ERROR', expired)]));
    const { seen, error } = await collect(watch());
    expect(seen).toEqual(['ADDED x']);
    expect(error).toBeInstanceOf(WatchErrorEvent);
    expect(isExpired(error)).toBe(true);
    expect((error as Error).message).toBe('too old resource version');
  });

  it('fails with the status of a refusal', async () => {
    server.always(json(403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'not for you' }));
    const { error } = await collect(watch());
    expect(error).toBeInstanceOf(ApiStatusError);
    expect(error).not.toBeInstanceOf(WatchErrorEvent);
    expect((error as ApiStatusError).code).toBe(403);
  });

  it.each([
    ['that is no object', 'null\n', 'not a watch event: "null"'],
    ['that is not JSON', 'oops\n', 'not a watch event: "oops"'],
    ['of an unknown type', line('GREETING', {}), 'unknown type "GREETING"'],
  ])('fails with an event %s', async (_name, text, message) => {
    server.always(stream([text], { end: false }));
    const { error } = await collect(watch());
    expect(error).toBeInstanceOf(ApiProtocolError);
    expect((error as Error).message).toContain(message);
  });

  it('fails when it is cut between events, and when it ends within one', async () => {
    server.next(
      async (response, request) => {
        await stream([line('ADDED', pod('x', '6'))], { end: false })(response, request);
        response.destroy();
      },
      stream(['{"type":"ADDED"']),
    );
    const cut = await collect(watch());
    expect(cut.seen).toEqual(['ADDED x']);
    expect(cut.error).toBeInstanceOf(ApiConnectionError);
    const partial = await collect(watch());
    expect((partial.error as Error).message).toContain('ended within an event');
  });

  it.each([
    ['before the server answers', silence],
    ['on an open stream', stream([line('ADDED', pod('x', '6'))], { end: false })],
  ])('fails after silence %s', async (_name, answer) => {
    server.always(answer);
    const result = collect(watch({ idleTimeoutMs: 5_000 }));
    await waitFor(() => server.received.length === 1);
    let over = false;
    void result.then(() => (over = true));
    await waitFor(async () => {
      await clock.advance(1_000);
      return over;
    });
    expect((await result).error).toBeInstanceOf(TimeoutError);
  });

  it('is kept alive by bookmarks alone', async () => {
    let push: (text: string) => void = () => undefined;
    server.always((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      push = (text) => void response.write(text);
      push(line('BOOKMARK', pod('', '6')));
    });
    const events = watch({ idleTimeoutMs: 5_000 })[Symbol.asyncIterator]();
    await events.next();
    for (let revision = 7; revision < 12; revision++) {
      const next = events.next();
      await clock.advance(4_000);
      push(line('BOOKMARK', pod('', String(revision))));
      expect((await next).value).toEqual({ type: 'BOOKMARK', resourceVersion: String(revision) });
    }
    await events.return?.(undefined);
  });

  it.each([
    ['before the server answers', silence],
    ['on an open stream', stream([line('ADDED', pod('x', '6'))], { end: false })],
  ])(
    'stops at once with the reason of the signal %s, and lets go of the connection',
    async (_name, answer) => {
      server.always(answer);
      const result = collect(watch());
      const connection = await waitFor(() => server.received[0]?.raw.socket);
      stopper.abort(new Error('we are stopping'));
      expect(((await result).error as Error).message).toBe('we are stopping');
      await waitFor(() => connection.destroyed);
    },
  );

  it('closes the connection when its reader leaves', async () => {
    server.always(stream([line('ADDED', pod('x', '6'))], { end: false }));
    for await (const event of watch()) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await waitFor(() => server.received[0]?.raw.socket.destroyed);
  });

  it('gives no event any more after it was stopped, not even one that came along with the last', async () => {
    server.always(stream([line('ADDED', pod('one', '6')) + line('ADDED', pod('two', '7'))], { end: false }));
    const events = watch()[Symbol.asyncIterator]();
    await events.next();
    const reason = new Error('enough');
    stopper.abort(reason);
    await expect(events.next()).rejects.toBe(reason);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('ends for a reader that leaves while it waits', async () => {
    server.always(stream([line('ADDED', pod('one', '6'))], { end: false }));
    const events = watch()[Symbol.asyncIterator]();
    await events.next();
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it('asks nobody when it is stopped before it begins', async () => {
    stopper.abort(new Error('we are stopping'));
    expect(((await collect(watch())).error as Error).message).toBe('we are stopping');
    expect(server.received).toEqual([]);
  });

  it('does not hold up requests, however many watches are open', async () => {
    server.always((response, request) => {
      if (request.url.includes('watch=1')) void silence(response, request);
      else void json(200, pod('p', '1'))(response, request);
    });
    const watches = Array.from({ length: 100 }, () => collect(watch()));
    await waitFor(() => server.received.length === 100);
    await client.get(Pod, { namespace: 'a', name: 'p' });
    stopper.abort(new Error('we are stopping'));
    await Promise.all(watches);
  });
});
