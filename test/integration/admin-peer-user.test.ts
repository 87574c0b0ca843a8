import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { platform } from 'node:os';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOwnUser } from '../../src/rollkeeper/admin/server/peer-user.js';

const run = promisify(execFile);
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** Connects, waits for the answer, and prints it. */
const CLIENT = `
  const socket = require('node:net').connect(Number(process.argv[1]), process.argv[2]);
  socket.on('data', (answer) => { console.log(String(answer)); socket.destroy(); });
`;

describe.runIf(platform() === 'linux')('the other end of a connection on this machine', () => {
  let server: Server;
  const port = (): number => (server.address() as AddressInfo).port;
  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      void isOwnUser(socket).then((isOwn) => socket.write(String(isOwn)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());

  it('is our own user where we connect ourselves', async () => {
    const socket: Socket = connect(port(), '127.0.0.1');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toBe('true');
    socket.destroy();
  });

  it.runIf(isRoot).each(['127.0.0.1', '::ffff:127.0.0.1'])(
    'is another user where another user connects to %s',
    async (address) => {
      const { stdout } = await run('/usr/bin/env', ['node', '-e', CLIENT, String(port()), address], {
        uid: NOBODY,
        gid: NOBODY,
        env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
        cwd: '/',
      });
      expect(stdout.trim()).toBe('false');
    },
  );
});
