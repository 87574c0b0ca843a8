import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:tls';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { readCertificates } from '../../src/rollkeeper/insight/beside/read-certificates.js';
import { createSelfSigned } from '../../src/tls/certificates.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-01-01T00:00:00Z');
const { signal } = new AbortController();

describe('the certificates of a connection', () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  /** One whose certificate was made so many days ago; it is valid for 365. */
  async function serverOf(days: number): Promise<string> {
    server = createServer(await createSelfSigned('api', ['127.0.0.1'], NOW - days * DAY_MS));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it.each([
    ['lasts', 10],
    ['has ended, which no client would trust', 400],
  ])('are seen of a server whose certificate %s', async (_, days) => {
    const serverUrl = await serverOf(days);
    expect(await readCertificates({ serverUrl, tls: {} }, signal)).toEqual({
      serverEndsAtMs: NOW + (365 - days) * DAY_MS,
    });
  });

  it('are those of the client as well, if it has one that can be read', async () => {
    const { cert } = await createSelfSigned('client', ['client'], NOW);
    const serverUrl = 'http://127.0.0.1:1';
    expect(await readCertificates({ serverUrl, tls: { cert } }, signal)).toEqual({
      clientEndsAtMs: NOW + 365 * DAY_MS,
    });
    expect(await readCertificates({ serverUrl, tls: { cert: 'not one' } }, signal)).toEqual({});
  });

  it('are that of the authority as well, whose last certificate counts', async () => {
    const ca = (
      await Promise.all([0, 9].map((days) => createSelfSigned('ca', ['ca'], NOW - days * DAY_MS)))
    ).map(({ cert }) => cert);
    const serverUrl = 'http://127.0.0.1:1';
    expect(await readCertificates({ serverUrl, tls: { ca: ca.join('\n') } }, signal)).toEqual({
      authorityEndsAtMs: NOW + 365 * DAY_MS,
    });
  });

  it('are not looked for past a proxy', async () => {
    const serverUrl = 'https://127.0.0.1:1';
    expect(await readCertificates({ serverUrl, tls: {}, proxyUrl: 'http://127.0.0.1:2' }, signal)).toEqual(
      {},
    );
  });

  it('cannot be seen where nothing answers', async () => {
    await expect(readCertificates({ serverUrl: 'https://127.0.0.1:1', tls: {} }, signal)).rejects.toThrow(
      'ECONNREFUSED',
    );
  });
});
