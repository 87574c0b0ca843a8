import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { CertificateSource } from './certificate-source.js';
import { certificateFiles, selfMadeCertificate } from './certificate-source.js';
import { createSelfSigned } from './certificates.js';
import type { KeyPair } from './key-pair.js';
import { fingerprintOf } from './key-pair.js';
import { ServedCertificate } from './served-certificate.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const DAY = 86_400_000;

describe('a certificate that is served', () => {
  let first: KeyPair;
  let second: KeyPair;

  beforeAll(async () => {
    [first, second] = await Promise.all([
      createSelfSigned('first', ['localhost'], NOW),
      createSelfSigned('second', ['localhost'], NOW),
    ]);
  });

  async function served(source?: CertificateSource) {
    const clock = new FakeClock(NOW);
    const given = { pair: first as KeyPair | Error };
    const read = async (): Promise<KeyPair> => {
      if (given.pair instanceof Error) throw given.pair;
      return given.pair;
    };
    const warnings: unknown[] = [];
    const certificate = await ServedCertificate.load({
      source: source ?? { description: 'the test', read },
      clock,
      logger: { ...silentLogger, warn: (_message, fields) => void warnings.push(fields?.['error']) },
      option: 'tls-cert-file',
    });
    const changes: string[] = [];
    certificate.onChange(({ current }) => changes.push(fingerprintOf(current.cert)));
    const stop = new AbortController();
    const running = certificate.run(stop.signal);
    return { certificate, changes, clock, given, running, stop, warnings };
  }

  it('is read again every ten seconds, and known by both its fingerprints for the change', async () => {
    const { certificate, changes, clock, given, running, stop } = await served();
    expect(certificate.fingerprints).toEqual([fingerprintOf(first.cert)]);
    await clock.advance(60_000);
    expect(changes).toEqual([]);
    given.pair = second;
    await clock.advance(10_000);
    expect(changes).toEqual([fingerprintOf(second.cert)]);
    expect(certificate.current).toEqual(second);
    expect(certificate.fingerprints).toEqual([fingerprintOf(second.cert), fingerprintOf(first.cert)]);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('stays as it is while its files are half replaced, broken or gone, which is reported once', async () => {
    const { certificate, changes, clock, given, warnings } = await served();
    given.pair = { cert: second.cert, key: first.key };
    await clock.advance(30_000);
    given.pair = { cert: 'no PEM', key: second.key };
    await clock.advance(10_000);
    given.pair = new Error('ENOENT: no such file');
    await clock.advance(30_000);
    expect(certificate.current).toEqual(first);
    expect(warnings).toEqual([
      'the private key does not belong to the certificate',
      expect.stringContaining('no certificate and private key in PEM'),
      'ENOENT: no such file',
    ]);
    given.pair = second;
    await clock.advance(10_000);
    expect(changes).toEqual([fingerprintOf(second.cert)]);
  });

  it('must be there and fit its key at the start, or the option is named', async () => {
    const load = (pair: KeyPair): Promise<unknown> =>
      served({ description: 'x.crt and x.key', read: async () => pair });
    await expect(load({ cert: first.cert, key: second.key })).rejects.toThrow(
      'tls-cert-file: x.crt and x.key: the private key does not belong to the certificate',
    );
    await expect(load({ cert: '', key: '' })).rejects.toThrow(
      'tls-cert-file: x.crt and x.key: no certificate',
    );
    await expect(served(certificateFiles('/nonexistent/tls.crt', '/nonexistent/tls.key'))).rejects.toThrow(
      /^tls-cert-file: .*ENOENT/,
    );
  });

  it('is, if it is of our own making, for the given names, and another one before it ends, however long we live', async () => {
    const clock = new FakeClock(NOW);
    const source = selfMadeCertificate('test', ['localhost', '10.1.2.3', '::1'], clock);
    const made = await source.read(undefined);
    const certificate = new X509Certificate(made.cert);
    expect(certificate.subject).toBe('CN=test');
    for (const ip of ['10.1.2.3', '::1']) expect(certificate.checkIP(ip)).toBeDefined();
    expect(certificate.checkHost('localhost')).toBeDefined();
    expect(await source.read(made)).toBe(made);
    await clock.advance(certificate.validToDate.getTime() - NOW - 29 * DAY);
    const next = await source.read(made);
    expect(fingerprintOf(next.cert)).not.toBe(fingerprintOf(made.cert));
    expect(next.key).not.toBe(made.key);
  });
});
