import { isIP } from 'node:net';
import { readSubject } from './certificate-subject.js';
import type { CertificateSubject } from './certificate-subject.js';
import { DerError, TAG, childrenOf, contextTag, expectTag, readDer } from './der.js';
import type { DerValue } from './der.js';

/** The contents of a certificate request. */
export interface CertificateRequest extends CertificateSubject {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

const PEM =
  /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----\s*$/m;
const BEGIN = /-----BEGIN /g;
/** Encoded object identifiers: 1.2.840.113549.1.9.14 and 2.5.29.17. */
const EXTENSION_REQUEST = '2a864886f70d01090e';
const ALTERNATIVE_NAMES = '551d11';

/**
 * The DER inside a PEM request, used by both the reader and the signer. The request must be the only PEM block: a tool
 * that shows it to an approver might read another one, as OpenSSL prefers a `NEW CERTIFICATE REQUEST` in front.
 * @throws DerError
 */
export function derOfRequest(pem: string): Buffer {
  if ((pem.match(BEGIN)?.length ?? 0) > 1) throw new DerError('there is more than one PEM block');
  const base64 = PEM.exec(pem)?.[1];
  if (base64 === undefined) throw new DerError('PEM block type must be CERTIFICATE REQUEST');
  return Buffer.from(base64, 'base64');
}

/**
 * Reads the contents of a request, and nothing else. A certificate is built from this result, never from the request
 * itself. Loads no library.
 * @throws DerError if it is not a certificate request, or is ambiguous
 */
export function readCertificateRequest(pem: string): CertificateRequest {
  const [body] = childrenOf(readDer(derOfRequest(pem)), TAG.sequence);
  const [version, subject, , attributes] = childrenOf(body, TAG.sequence);
  expectTag(version, TAG.integer);
  return { ...readSubject(subject), ...readAlternativeNames(attributes) };
}

type AlternativeNames = Omit<CertificateRequest, keyof CertificateSubject>;

/** Other kinds of names are ignored. */
function readAlternativeNames(attributes: DerValue | undefined): AlternativeNames {
  const names = requestedExtensions(attributes).flatMap(namesOfExtension);
  const textsOf = (tag: number): string[] => names.filter((name) => name.tag === tag).map(readAscii);
  return {
    emailAddresses: textsOf(0x81),
    dnsNames: textsOf(0x82),
    uris: textsOf(0x86),
    ipAddresses: names.filter(({ tag }) => tag === 0x87).map(readAddress),
  };
}

function requestedExtensions(attributes: DerValue | undefined): readonly DerValue[] {
  if (!attributes) return [];
  const lists = childrenOf(attributes, contextTag(0)).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute, TAG.sequence);
    return isOid(type, EXTENSION_REQUEST) ? childrenOf(values, TAG.set) : [];
  });
  if (lists.length > 1) throw new DerError('the request has more than one list of extensions');
  const extensions = lists.flatMap((list) => childrenOf(list, TAG.sequence));
  const named = extensions.filter((extension) => isOid(childrenOf(extension, TAG.sequence)[0], ALTERNATIVE_NAMES));
  if (named.length > 1) throw new DerError('the request has subject alternative names twice');
  return named;
} // prettier-ignore

function namesOfExtension(extension: DerValue): readonly DerValue[] {
  // An optional critical flag may come between type and value.
  const value = expectTag(childrenOf(extension, TAG.sequence).at(-1), TAG.octetString);
  return childrenOf(readDer(value.content), TAG.sequence);
}

function isOid(value: DerValue | undefined, encoded: string): boolean {
  return expectTag(value, TAG.oid).content.toString('hex') === encoded;
}

function readAscii({ content }: DerValue): string {
  const text = content.toString('latin1');
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new DerError('a subject alternative name has other characters than printable ASCII');
  return text;
}

function readAddress({ content }: DerValue): string {
  const groups = Array.from({ length: content.length / 2 }, (_, index) =>
    content.readUInt16BE(2 * index).toString(16),
  );
  const text = content.length === 4 ? content.join('.') : groups.join(':');
  if (isIP(text) === 0) throw new DerError('a subject alternative name is not an IP address');
  return text;
}
