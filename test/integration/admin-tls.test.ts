import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent as KeepAliveAgent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { request } from 'undici';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AdminPorts, AdminServer, Peer } from '../../src/rollkeeper/admin/server/index.js';
import { AdminModule, proofOf, startAdminServer } from '../../src/rollkeeper/admin/server/index.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { ApiClientServer, json } from '../../src/testing/api-client-server.js';
import { createSelfSigned } from '../../src/tls/certificates.js';
import type { KeyPair } from '../../src/tls/index.js';
import { ServedCertificate, certificateFiles, fingerprintOf, trustedAgent } from '../../src/tls/index.js';

interface Served {
  readonly server: AdminServer;
  readonly ports: AdminPorts;
  readonly clock: FakeClock;
  readonly certificate: ServedCertificate;
  /** Puts other files in place. */
  replace(pair: Partial<KeyPair>): void;
}

describe('the admin port over TLS', () => {
  let pairs: readonly [KeyPair, KeyPair, KeyPair];
  let dir: string;
  let ends: (() => unknown)[];

  beforeAll(async () => {
    const make = (name: string): Promise<KeyPair> => createSelfSigned(name, ['127.0.0.1'], Date.now());
    pairs = await Promise.all([make('first'), make('second'), make('third')]);
  });
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'rollkeeper-admin-tls-'));
    ends = [() => rmSync(dir, { recursive: true })];
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
  });

  async function serve(identity = 'controller-0', peers: () => readonly Peer[] = () => []): Promise<Served> {
    const clock = new FakeClock();
    const files = { cert: join(dir, `${identity}.crt`), key: join(dir, `${identity}.key`) };
    const replace = (pair: Partial<KeyPair>): void => {
      if (pair.cert !== undefined) writeFileSync(files.cert, pair.cert);
      if (pair.key !== undefined) writeFileSync(files.key, pair.key);
    };
    replace(pairs[0]);
    const source = certificateFiles(files.cert, files.key);
    const option = 'admin-tls-cert-file';
    const certificate = await ServedCertificate.load({ source, clock, logger: silentLogger, option });
    const stop = new AbortController();
    const running = certificate.run(stop.signal);
    const ports = anAdminPorts({ identity, certificate, peers: { peers: async () => peers() } });
    const module = AdminModule.forRoot({
      health: new HealthRegistry(),
      metrics: createMetrics(),
      status: ports.status,
      ports,
    });
    const server = await startAdminServer(module, { host: '127.0.0.1', port: 0, tls: true });
    ends.push(async () => {
      stop.abort();
      await running;
      await server.close();
    });
    return { server, ports, clock, certificate, replace };
  }

  /** Lets the replica look at its files; reading them takes a moment of real time. */
  async function lookAgain({ certificate, clock }: Served, wanted: KeyPair): Promise<void> {
    for (let tries = 0; tries < 50 && certificate.current.cert !== wanted.cert; tries++) {
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(certificate.current.cert).toBe(wanted.cert);
  }

  /** The certificate that a new connection is shown. */
  async function shownBy({ server }: Served): Promise<string> {
    const { port } = new URL(server.url);
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  }

  /** Asks as who trusts this certificate and no other. */
  async function get({ server }: Served, pair: KeyPair, path = '/livez'): Promise<number> {
    const dispatcher = trustedAgent({ by: 'fingerprint', sha256: [fingerprintOf(pair.cert)] });
    ends.push(() => dispatcher.close());
    const { body, statusCode } = await request(server.url + path, { dispatcher });
    await body.dump();
    return statusCode;
  }

  it('answers over TLS, to who trusts its certificate, and not over plain HTTP', async () => {
    const served = await serve();
    expect(served.server.url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect(await get(served, pairs[0])).toBe(200);
    await expect(get(served, pairs[1])).rejects.toMatchObject({ code: 'WRONG_CERTIFICATE' });
    await expect(fetch(served.server.url.replace('https:', 'http:') + '/livez')).rejects.toThrow();
    const byAuthority = trustedAgent({ by: 'authority', caPem: pairs[0].cert });
    const strangers = trustedAgent({ by: 'well-known-authorities' });
    ends.push(
      () => byAuthority.close(),
      () => strangers.close(),
    );
    const { statusCode } = await request(`${served.server.url}/livez`, { dispatcher: byAuthority });
    expect(statusCode).toBe(200);
    await expect(request(`${served.server.url}/livez`, { dispatcher: strangers })).rejects.toThrow(
      'self-signed certificate',
    );
  });

  it('shows another certificate once its files are replaced, and drops no connection for that', async () => {
    const served = await serve();
    const agent = new KeepAliveAgent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    ends.push(() => agent.destroy());
    const ask = (): Promise<TLSSocket> =>
      new Promise((resolve, reject) => {
        const asked = httpsRequest(`${served.server.url}/livez`, { agent }, (response) => {
          expect(response.statusCode).toBe(200);
          response.resume().on('end', () => resolve(response.socket as TLSSocket));
        });
        asked.on('error', reject).end();
      });
    const before = await ask();
    const stream = httpsRequest(`${served.server.url}/admin/events`, { rejectUnauthorized: false });
    ends.push(() => stream.destroy());
    let isCut = false;
    stream.on('close', () => (isCut = true)).end();
    await once(stream, 'response');

    served.replace(pairs[1]);
    await lookAgain(served, pairs[1]);

    expect(await shownBy(served)).toBe(fingerprintOf(pairs[1].cert));
    expect(await ask()).toBe(before);
    expect(isCut).toBe(false);
  });

  it('keeps showing the former one while only one of its files has been replaced', async () => {
    const served = await serve();
    served.replace({ cert: pairs[1].cert });
    for (let looks = 0; looks < 3; looks++) {
      await served.clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await shownBy(served)).toBe(fingerprintOf(pairs[0].cert));
    served.replace({ key: pairs[1].key });
    await lookAgain(served, pairs[1]);
    expect(await shownBy(served)).toBe(fingerprintOf(pairs[1].cert));
  });

  describe('among replicas', () => {
    const announced = ({ certificate, ports, server }: Served, token = ADMIN_TOKEN): Peer => {
      const peer = {
        identity: ports.identity,
        adminUrl: server.url,
        pid: 1,
        startedAtMs: 0,
        certificates: certificate.fingerprints,
      };
      return { ...peer, proof: proofOf(peer, token) };
    };
    /** The peers of which the replica gets an answer. */
    const reached = async (
      { server }: Served,
      pair = pairs[0],
    ): Promise<Record<string, true | string | undefined>> => {
      const dispatcher = trustedAgent({ by: 'fingerprint', sha256: [fingerprintOf(pair.cert)] });
      ends.push(() => dispatcher.close());
      const { body } = await request(`${server.url}/admin/replicas`, { dispatcher });
      const text = await body.text();
      expect(text).not.toContain('"proof"');
      const { replicas } = JSON.parse(text) as {
        replicas: { identity: string; reachable: boolean; problem?: string }[];
      };
      return Object.fromEntries(
        replicas.map(({ identity, problem, reachable }) => [identity, reachable || problem]),
      );
    };

    it('is spoken by the certificates that they have announced, also after a change', async () => {
      let peers: readonly Peer[] = [];
      const [first, second] = await Promise.all([serve('r0', () => peers), serve('r1', () => peers)]);
      peers = [announced(first), announced(second)];
      expect(await reached(first)).toEqual({ r0: true, r1: true });
      second.replace(pairs[1]);
      await lookAgain(second, pairs[1]);
      peers = [announced(first), announced(second)];
      expect(await reached(first)).toEqual({ r0: true, r1: true });
      expect(await reached(second, pairs[1])).toEqual({ r0: true, r1: true });
    });

    it('sends the token neither to who shows another certificate nor to who does not prove to know it', async () => {
      const impostor = await ApiClientServer.start(pairs[2]);
      impostor.always(json(200, {}));
      const plain = await ApiClientServer.start();
      plain.always(json(200, {}));
      ends.push(
        () => impostor.stop(),
        () => plain.stop(),
      );
      const genuine = { pid: 1, startedAtMs: 0, certificates: [fingerprintOf(pairs[1].cert)] };
      const proven = (peer: Omit<Peer, 'proof'>, token = ADMIN_TOKEN): Peer => ({
        ...peer,
        proof: proofOf(peer, token),
      });
      const own = { ...genuine, certificates: [fingerprintOf(pairs[2].cert)] };
      const peers = [
        // This one sits at the address of one of us.
        proven({ identity: 'another-certificate', adminUrl: impostor.url, ...genuine }),
        // This one may write to Redis, and no more.
        { identity: 'no-proof', adminUrl: impostor.url, ...own },
        proven({ identity: 'proof-of-another-token', adminUrl: impostor.url, ...own }, 'another token'),
        { ...proven({ identity: 'moved', adminUrl: 'https://127.0.0.1:1', ...own }), adminUrl: impostor.url },
        { ...proven({ identity: 'swapped', adminUrl: impostor.url, ...genuine }), ...own },
        { identity: 'plain', adminUrl: plain.url, pid: 1, startedAtMs: 0 },
      ];
      const served = await serve('r0', () => peers);
      const otherToken = 'it does not have the admin token of this replica';
      expect(await reached(served)).toEqual({
        r0: true,
        'another-certificate': 'another certificate than its own is shown there',
        'no-proof': otherToken,
        'proof-of-another-token': otherToken,
        moved: otherToken,
        swapped: otherToken,
        plain: otherToken,
      });
      expect(impostor.received).toEqual([]);
      expect(plain.received).toEqual([]);
    });
  });
});
