import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PeerClient } from '../../src/rollkeeper/admin/server/peer-client.js';

describe('the answer of another replica', () => {
  let server: Server;
  let answer: (response: ServerResponse) => void;
  const client = new PeerClient(undefined);

  beforeEach(async () => {
    server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });

  const read = () => {
    const { port } = server.address() as AddressInfo;
    const peer = { identity: 'r1', adminUrl: `http://127.0.0.1:${port}`, pid: 1, startedAtMs: 0 };
    return client.read(peer, { path: '/admin/deployments', withinMs: 50 });
  };

  it.each<[string, typeof answer]>([
    ['nothing comes', () => undefined],
    ['only a part of it comes', (response) => void response.write('[')],
  ])('is late if %s', async (_, answers) => {
    answer = answers;
    expect(await read()).toMatchObject({ problem: expect.any(String), isLate: true });
  });

  it('is not late if it is a refusal, or a broken connection', async () => {
    answer = (response) => void response.writeHead(403).end();
    expect(await read()).toEqual({ problem: 'it answers 403' });
    answer = (response) => response.destroy();
    expect(await read()).toMatchObject({ problem: expect.any(String), isLate: false });
  });
});
