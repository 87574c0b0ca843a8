import { X509Certificate as NodeCertificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@rollkeeper/machinery/errors';
import { makeFolder, readOwnFile, replaceFile } from '@rollkeeper/machinery/files';
import { createAuthority, createServerCertificate, loadAuthority } from '@rollkeeper/tls/certificates';
import type { Authority } from '@rollkeeper/tls/certificates';
import type { KeyPair } from '@rollkeeper/tls';

/** The keys and certificates that the server needs to speak TLS, and clients to trust it. PEM. */
export interface TlsMaterial extends KeyPair {
  readonly ca: string;
}

interface TlsFilesOptions {
  /** The folder of `ca.crt`, `ca.key`, `apiserver.crt` and `apiserver.key`; created when it is missing. */
  readonly dir: string;
  /** Names and addresses that clients may use, beside 127.0.0.1, ::1 and localhost. */
  readonly hosts?: readonly string[];
  /** Wall clock, milliseconds. */
  readonly nowMs: number;
}

/** A certificate that expires within this time is recreated at the next start. */
const RENEW_BEFORE_MS = 30 * 86_400_000;

/**
 * The certificates of earlier starts, or new ones where there are none, where they come to their end, or where they
 * lack a host. A new authority means that clients need the new `ca.crt`; a new server certificate does not.
 */
export async function ensureTlsFiles(options: TlsFilesOptions): Promise<TlsMaterial> {
  try {
    await makeFolder(options.dir, { mode: 0o700 });
    const authority = await ensureAuthority(options);
    const server = await ensureServer(options, authority);
    return { ...server, ca: authority.pem.cert };
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    throw new StartupError(`cannot prepare the certificates in ${options.dir}: ${problem}`, { cause: error });
  }
}

async function ensureAuthority({ dir, nowMs }: TlsFilesOptions): Promise<Authority> {
  const existing = await readPair(dir, 'ca');
  if (existing && lastsLongEnough(existing.cert, nowMs)) return loadAuthority(existing);
  const authority = await createAuthority(nowMs);
  await writePair(dir, 'ca', authority.pem);
  return authority;
}

async function ensureServer(
  { dir, hosts = [], nowMs }: TlsFilesOptions,
  authority: Authority,
): Promise<KeyPair> {
  const names = [...new Set(['127.0.0.1', '::1', 'localhost', ...hosts])];
  const existing = await readPair(dir, 'apiserver');
  if (existing && lastsLongEnough(existing.cert, nowMs) && serves(existing.cert, names, authority))
    return existing;
  const server = await createServerCertificate(authority, names, nowMs);
  await writePair(dir, 'apiserver', server);
  return server;
}

function lastsLongEnough(pem: string, nowMs: number): boolean {
  return Date.parse(new NodeCertificate(pem).validTo) - nowMs > RENEW_BEFORE_MS;
}

function serves(pem: string, names: readonly string[], authority: Authority): boolean {
  const certificate = new NodeCertificate(pem);
  const signed = certificate.verify(new NodeCertificate(authority.pem.cert).publicKey);
  const ip = /^[\d.]+$|:/;
  return (
    signed && names.every((name) => (ip.test(name) ? certificate.checkIP(name) : certificate.checkHost(name)))
  );
}

async function readPair(dir: string, name: string): Promise<KeyPair | undefined> {
  const [cert, key] = await Promise.all([
    readOwnFile(join(dir, `${name}.crt`)),
    readOwnFile(join(dir, `${name}.key`), { mode: 0o600 }),
  ]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/**
 * An interruption in between leaves a key without a certificate, which is then recreated, and never a mismatched pair.
 */
async function writePair(dir: string, name: string, pair: KeyPair): Promise<void> {
  const certPath = join(dir, `${name}.crt`);
  await rm(certPath, { force: true });
  await replaceFile(join(dir, `${name}.key`), pair.key, { mode: 0o600 });
  await replaceFile(certPath, pair.cert, { mode: 0o644 });
}
