import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { freePort } from '../../src/machinery/listening.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';

/** Between a client and the server; `withholds` is asked about each piece that the client sends. */
async function aProxy(withholds: (piece: string) => boolean, at = 0) {
  const { hostname, port } = new URL(inject('redisUrl'));
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    upstream.pipe(client);
    client.on('data', (piece) => void (withholds(piece.toString()) || upstream.write(piece)));
  });
  server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a connection to Redis', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);

  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(() => {
    process.off('unhandledRejection', note);
  });

  it('can be closed while it subscribes again, without an error that nobody handles', async () => {
    let subscriptions = 0;
    let onWithheld = (): void => undefined;
    const isWithheld = new Promise<void>((resolve) => (onWithheld = resolve));
    const proxy = await aProxy((piece) => {
      if (!/subscribe/i.test(piece) || ++subscriptions === 1) return false;
      onWithheld();
      return true;
    });
    const connection = createRedisConnection({ url: proxy.url, connectionName: 'test', mode: 'blocking' });
    await connection.subscribe('news');
    proxy.cut();
    await isWithheld;
    const ended = once(connection, 'end');
    connection.disconnect();
    proxy.cut();
    await ended;
    await setImmediate();
    await proxy.stop();
    expect(unhandled).toEqual([]);
  });

  it('tells whoever subscribes that it could not', async () => {
    const proxy = await aProxy((piece) => /subscribe/i.test(piece));
    const connection = createRedisConnection({ url: proxy.url, connectionName: 'test', mode: 'blocking' });
    await connection.connect();
    const subscribed = connection.subscribe('news');
    connection.disconnect();
    proxy.cut();
    await expect(subscribed).rejects.toThrow('Connection is closed.');
    await proxy.stop();
  });

  it.each(['redis://127.0.0.1:1', 'redis+cluster://127.0.0.1:1'])(
    'to %s, where nothing listens, ends the commands that wait when it is closed between two attempts',
    async (url) => {
      const connection = createRedisConnection({ url, connectionName: 'test', mode: 'blocking' });
      const waiting = connection.get('a');
      waiting.catch(() => undefined);
      await new Promise<void>((resolve) => connection.once('reconnecting', resolve));
      connection.disconnect();
      await expect(waiting).rejects.toThrow();
      expect(connection.status).toBe('end');
    },
  );

  it.each([
    ['alone', false],
    ['of a pipeline', true],
  ])(
    'never sends a command %s that has timed out before there was a connection',
    async (_, autoPipelining) => {
      const port = await freePort();
      const url = `redis://127.0.0.1:${port}`;
      const key = `test-${randomUUID()}`;
      const options = { url, connectionName: 'test', commandTimeoutMs: 50, autoPipelining };
      const connection = createRedisConnection(options);
      const outcomes = await Promise.allSettled([connection.set(key, '1'), connection.incr(key)]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      const proxy = await aProxy(() => false, port);
      const direct = createRedisConnection({ url: inject('redisUrl'), connectionName: 'test' });
      // It follows the others on the same connection.
      await waitFor(() => connection.ping().catch(() => undefined));
      expect(await direct.get(key)).toBeNull();
      for (const each of [connection, direct]) each.disconnect();
      await proxy.stop();
    },
  );
});
