import { X509Certificate, createPrivateKey } from 'node:crypto';

const BLOCK = /-----BEGIN ([^-\n]+)-----\r?\n[\s\S]*?-----END \1-----/g;

interface PemBlock {
  readonly type: string;
  readonly text: string;
}

/**
 * What Go's `tls.X509KeyPair` says of a certificate and a key that are no pair.
 * @param certificate PEM, in base64
 * @param key PEM, in base64
 */
export function keyPairWarnings(certificate = '', key = ''): string[] {
  const problem = problemOf(blocksOf(certificate), blocksOf(key));
  return problem === undefined ? [] : [problem];
}

function blocksOf(data: string): PemBlock[] {
  const text = Buffer.from(data, 'base64').toString('latin1');
  return Array.from(text.matchAll(BLOCK), ([whole, type = '']) => ({ type, text: whole }));
}

function problemOf(certificates: readonly PemBlock[], keys: readonly PemBlock[]): string | undefined {
  const certificate = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (!certificate) return `tls: ${missingCertificate(certificates)}`;
  const key = keys.find(({ type }) => isKey(type));
  if (!key) return `tls: ${missingKey(keys)}`;
  const own = tryRead(() => new X509Certificate(certificate.text));
  if (!own) return 'x509: malformed certificate';
  const secret = tryRead(() => createPrivateKey(key.text));
  if (!secret) return 'tls: failed to parse private key';
  return own.checkPrivateKey(secret) ? undefined : 'tls: private key does not match public key';
}

function isKey(type: string): boolean {
  return type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');
}

function missingCertificate(skipped: readonly PemBlock[]): string {
  const [first] = skipped;
  if (!first) return 'failed to find any PEM data in certificate input';
  if (skipped.length === 1 && first.type.endsWith('PRIVATE KEY'))
    return 'failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  return `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${typesOf(skipped)}`;
}

function missingKey(skipped: readonly PemBlock[]): string {
  const [first] = skipped;
  if (!first) return 'failed to find any PEM data in key input';
  if (skipped.length === 1 && first.type === 'CERTIFICATE')
    return 'found a certificate rather than a key in the PEM for the private key';
  return `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${typesOf(skipped)}`;
}

function typesOf(blocks: readonly PemBlock[]): string {
  return `[${blocks.map(({ type }) => type).join(' ')}]`;
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
