import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer, TOKEN } from './api-server-harness.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const COUNT = 20;

describe('requests that a client sends ahead of their answers', () => {
  let api: RunningApiServer;
  let socket: Socket;
  let received = '';

  beforeAll(async () => {
    api = await startApiServer();
    const data = { big: 'x'.repeat(400 * 1024) };
    for (let index = 0; index < COUNT; index++)
      await api.call('POST', CONFIG_MAPS, { metadata: { name: `c${index}` }, data });
  });
  afterAll(() => api.stop());
  afterEach(() => socket.destroy());

  /** Sends all at once, and reads nothing until `readAll` is called. */
  const sendAhead = (): void => {
    received = '';
    const { hostname, port } = new URL(api.url);
    socket = connect(Number(port), hostname);
    socket.pause();
    const head = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    socket.write(
      Array.from(
        { length: COUNT },
        (_, index) => `GET ${CONFIG_MAPS}/c${index} HTTP/1.1\r\n${head}\r\n`,
      ).join(''),
    );
  };
  const readAll = async (): Promise<string[]> => {
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.resume();
    const names = (): string[] =>
      [...received.matchAll(/"name":"(c\d+)","namespace"/g)].map(([, name]) => name ?? '');
    return waitFor(async () => (names().length === COUNT ? names() : undefined), { what: 'all answers' });
  };

  it('are answered in their order', async () => {
    sendAhead();
    expect(await readAll()).toEqual(Array.from({ length: COUNT }, (_, index) => `c${index}`));
  });

  it('hold up nobody else while their answers are not read, and are answered when they are', async () => {
    sendAhead();
    for (let round = 0; round < 3; round++) {
      const { body, status } = await api.call('GET', CONFIG_MAPS);
      expect([status, (body as { items: unknown[] }).items.length]).toEqual([200, COUNT]);
    }
    expect(received).toBe('');
    expect(await readAll()).toHaveLength(COUNT);
  });
});
