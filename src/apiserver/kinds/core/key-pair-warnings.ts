import { X509Certificate, createPrivateKey } from 'node:crypto';

const MARK = /-----(?:BEGIN (?<begun>[^-\n]+)-----\r?\n|END (?<ended>[^-\n]+)-----)/g;

interface PemBlock {
  readonly type: string;
  readonly text: string;
}

/**
 * The error of Go's `tls.X509KeyPair` for a certificate and a key that are no pair.
 * @param certificate PEM, in base64
 * @param key PEM, in base64
 */
export function keyPairWarnings(certificate = '', key = ''): string[] {
  const problem = problemOf(blocksOf(certificate), blocksOf(key));
  return problem === undefined ? [] : [problem];
}

/** Each block ends at the next end of its own type. The ends are found once: looking from each beginning is quadratic. */
function blocksOf(data: string): PemBlock[] {
  const text = Buffer.from(data, 'base64').toString('latin1');
  const marks = [...text.matchAll(MARK)];
  const ends = Map.groupBy(marks, ({ groups }) => groups?.['ended']);
  for (const places of ends.values()) places.reverse();
  const blocks: PemBlock[] = [];
  let at = 0;
  for (const { 0: mark, groups, index } of marks) {
    const type = groups?.['begun'];
    if (type === undefined || index < at) continue;
    const places = ends.get(type);
    while (places?.at(-1) && places.at(-1)!.index < index + mark.length) places.pop();
    const end = places?.at(-1);
    if (!end) continue;
    at = end.index + end[0].length;
    blocks.push({ type, text: text.slice(index, at) });
  }
  return blocks;
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
