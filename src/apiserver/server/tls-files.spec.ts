import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureTlsFiles } from './tls-files.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const DAY = 86_400_000;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rollkeeper-tls-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('ensureTlsFiles', () => {
  it('makes a server certificate for the loopback that its authority signed', async () => {
    const { cert, ca } = await ensureTlsFiles({ dir, nowMs: NOW });
    const certificate = new X509Certificate(cert);
    expect(certificate.verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(certificate.checkIP('127.0.0.1')).toBeDefined();
    expect(certificate.checkHost('localhost')).toBeDefined();
    expect(new X509Certificate(ca).ca).toBe(true);
  });

  it('keeps private keys to the owner', async () => {
    await ensureTlsFiles({ dir, nowMs: NOW });
    for (const key of ['ca.key', 'apiserver.key']) {
      expect((await stat(join(dir, key))).mode & 0o777).toBe(0o600);
    }
  });

  it('uses at the next start what it made at the first', async () => {
    const first = await ensureTlsFiles({ dir, nowMs: NOW });
    expect(await ensureTlsFiles({ dir, nowMs: NOW + DAY })).toEqual(first);
  });

  it('renews a server certificate near its end, under the same authority', async () => {
    const first = await ensureTlsFiles({ dir, nowMs: NOW });
    const later = await ensureTlsFiles({ dir, nowMs: NOW + 340 * DAY });
    expect(later.ca).toBe(first.ca);
    expect(later.cert).not.toBe(first.cert);
    expect(new X509Certificate(later.cert).verify(new X509Certificate(first.ca).publicKey)).toBe(true);
  });

  it('makes another for a host that the old one lacks', async () => {
    await ensureTlsFiles({ dir, nowMs: NOW });
    const { cert } = await ensureTlsFiles({ dir, nowMs: NOW, hosts: ['10.1.2.3'] });
    expect(new X509Certificate(cert).checkIP('10.1.2.3')).toBeDefined();
  });

  it('says in one line when the folder cannot be used', async () => {
    await expect(ensureTlsFiles({ dir: '/dev/null/x', nowMs: NOW })).rejects.toThrow(
      /^cannot prepare the certificates in \/dev\/null\/x: /,
    );
  });
});
