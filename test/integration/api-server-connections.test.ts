import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connections, compileServerLimits, createListener } from '../../src/apiserver/http/index.js';
import { ensureTlsFiles } from '../../src/apiserver/server/tls-files.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

describe('a server with TLS', () => {
  const clock = new SystemClock();
  let dir: string;
  let connections: Connections;
  let server: Server;
  let port: number;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'rollkeeper-connections-'));
    const tls = await ensureTlsFiles({ dir, nowMs: clock.now() });
    connections = new Connections({ clock, most: 100, mostUnknownPerAddress: 100, unknownIdleMs: 100 });
    server = createListener(
      (message, response) => {
        connections.began(message.socket);
        response.once('close', () => connections.ended(message.socket));
        response.end('answered');
      },
      compileServerLimits({ headersTimeoutMs: 300 }),
      tls,
      connections,
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    connections.stop();
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('forgets every connection, however it ends: cut, silent, no TLS at all, idle before and after a request', async () => {
    for (const text of ['', 'no handshake']) {
      const raw = connect(port, '127.0.0.1').on('error', () => undefined);
      await once(raw, 'connect');
      if (text) raw.write(text);
      const cut = connect(port, '127.0.0.1').on('error', () => undefined);
      await once(cut, 'connect');
      cut.destroy();
    }
    for (const text of ['', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const secure = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
      secure.on('error', () => undefined);
      await once(secure, 'secureConnect');
      secure.resume();
      if (text) secure.write(text);
    }
    await waitFor(() => connections.size === 0, { what: 'the end of all' });
  });

  it.each(['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA384'])(
    'speaks TLS 1.2 without CBC: not by %s',
    async (cipher) => {
      const offer = { host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' as const };
      const refused = connectTls({ ...offer, ciphers: `${cipher}:@SECLEVEL=0` });
      const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
      expect(error.code).toMatch(/HANDSHAKE_FAILURE/);
      const served = connectTls(offer);
      await once(served, 'secureConnect');
      expect(served.getCipher().name).toMatch(/GCM|CHACHA20/);
      served.destroy();
    },
  );
});
