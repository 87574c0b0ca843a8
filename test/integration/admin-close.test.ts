import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';

const REQUEST = 'GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';

describe('an admin server that closes', () => {
  let clock: FakeClock;
  let server: AdminServer;
  let asked: number;
  let answer: () => void;
  let clients: Client[];

  beforeEach(async () => {
    clock = new FakeClock();
    asked = 0;
    clients = [];
    const health = new HealthRegistry();
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const check = async (): Promise<undefined> => {
      asked++;
      await answered;
      return undefined;
    };
    health.add('readyz', { name: 'slow', check });
    const ports = anAdminPorts();
    const module = AdminModule.forRoot({ health, metrics: createMetrics(), status: ports.status, ports });
    server = await startAdminServer(module, { host: '127.0.0.1', port: 0, clock });
  });

  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await server.close();
  });

  interface Client {
    readonly socket: Socket;
    received: string;
    isOver: boolean;
  }

  /** A connection that its client keeps open. */
  const open = async (): Promise<Client> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    const client = { socket, received: '', isOver: false };
    clients.push(client);
    socket.on('data', (data: Buffer) => (client.received += data.toString()));
    socket.on('close', () => (client.isOver = true)).on('error', () => undefined);
    await once(socket, 'connect');
    return client;
  };
  /** By its own clock: milliseconds until it was closed. */
  const closed = async (closing: Promise<void>): Promise<number> => {
    const beganMs = clock.monotonicNow();
    let isClosed = false;
    void closing.then(() => (isClosed = true));
    await waitFor(
      async () => {
        if (!isClosed) await clock.advance(20);
        return isClosed;
      },
      { what: 'the server to be closed', timeoutMs: 30_000, intervalMs: 20 },
    );
    return clock.monotonicNow() - beganMs;
  };

  it('answers who has asked, and does not wait until that client lets go of its connection', async () => {
    const client = await open();
    client.socket.write(REQUEST);
    await waitFor(() => asked === 1, { what: 'the question' });
    const closing = server.close();
    answer();
    await waitFor(() => client.received.endsWith('ok'), { what: 'the answer' });
    expect(await closed(closing)).toBeLessThan(500);
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    await waitFor(() => client.isOver, { what: 'the end of the connection' });
  });

  it('ends a connection that has not asked anything, half a second later at most', async () => {
    const client = await open();
    expect(await closed(server.close())).toBeLessThanOrEqual(520);
    await waitFor(() => client.isOver, { what: 'the end of the connection' });
  });

  it('cuts off what is not answered within half a second', async () => {
    const client = await open();
    client.socket.write(REQUEST);
    await waitFor(() => asked === 1, { what: 'the question' });
    const tookMs = await closed(server.close());
    expect(tookMs).toBeGreaterThanOrEqual(500);
    expect(tookMs).toBeLessThanOrEqual(520);
    await waitFor(() => client.isOver, { what: 'the end of the connection' });
    expect(client.received).toBe('');
  });
});
