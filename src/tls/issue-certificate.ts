// The certificate library looks for it when loaded, so this import has to stay first.
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Extension, JsonGeneralNames, JsonNameParams } from '@peculiar/x509';
import { derOfRequest } from './certificate-request.js';
import type { CertificateRequest } from './certificate-request.js';
import { COMMON_NAME, ORGANIZATION, SERIAL_NUMBER } from './certificate-subject.js';
import type { SubjectDetail } from './certificate-subject.js';
import type { KeyPair } from './key-pair.js';

const crypto: webcrypto.Crypto = webcrypto;
const HASH = 'SHA-256';

export interface Issue {
  /** In the certificates API's words: `client auth`, `digital signature`. */
  readonly usages: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Names of key usages in `certificates.k8s.io`. Source: authority/policies.go in k/k pkg/controller/certificates. */
const KEY_USAGES: Readonly<Record<string, KeyUsageFlags>> = {
  signing: KeyUsageFlags.digitalSignature,
  'digital signature': KeyUsageFlags.digitalSignature,
  'content commitment': KeyUsageFlags.nonRepudiation,
  'key encipherment': KeyUsageFlags.keyEncipherment,
  'key agreement': KeyUsageFlags.keyAgreement,
  'data encipherment': KeyUsageFlags.dataEncipherment,
  'cert sign': KeyUsageFlags.keyCertSign,
  'crl sign': KeyUsageFlags.cRLSign,
  'encipher only': KeyUsageFlags.encipherOnly,
  'decipher only': KeyUsageFlags.decipherOnly,
};
const PURPOSES: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/**
 * Issues a certificate for a request that was read and approved: for its key, with the given usages. Nothing else of
 * the request gets into the certificate. It expires no later than its authority.
 * @param pem the request; only its key is used
 * @param asked the contents read from it
 * @returns PEM
 * @throws Error if the request is not signed by its own key, or the authority has expired
 */
export async function issueCertificate(
  authority: KeyPair,
  pem: string,
  asked: CertificateRequest,
  issue: Issue,
): Promise<string> {
  const request = new Pkcs10CertificateRequest(derOfRequest(pem));
  if (!(await request.verify(crypto))) throw new Error('unable to verify certificate request signature');
  const issuer = new X509Certificate(authority.cert);
  const ends = issuer.notAfter.getTime();
  if (ends <= issue.notBeforeMs) throw new Error(`the signer has expired: ${issuer.notAfter.toISOString()}`);
  const ownAlgorithm = issuer.publicKey.algorithm as webcrypto.EcKeyAlgorithm;
  const signingAlgorithm = { ...ownAlgorithm, hash: HASH };
  const certificate = await X509CertificateGenerator.create(
    {
      subject: new Name(subjectOf(asked)),
      issuer: issuer.subjectName,
      notBefore: new Date(issue.notBeforeMs),
      notAfter: new Date(Math.min(ends, issue.notAfterMs)),
      signingAlgorithm,
      publicKey: request.publicKey,
      signingKey: await signingKey(authority.key, signingAlgorithm),
      extensions: extensionsOf(asked, issue.usages),
    },
    crypto,
  );
  return `${certificate.toString('pem').trim()}\n`;
}

/** When a certificate expires, epoch milliseconds. @throws Error if it is not a certificate */
export function certificateEndMs(pem: string): number {
  return new X509Certificate(pem).notAfter.getTime();
}

function subjectOf({ commonName, details, organizations }: CertificateRequest): JsonNameParams {
  const isBefore = ({ type }: SubjectDetail): boolean => type !== SERIAL_NUMBER;
  const attributes = [
    ...details.filter(isBefore),
    ...organizations.map((value) => ({ type: ORGANIZATION, value })),
    ...(commonName === '' ? [] : [{ type: COMMON_NAME, value: commonName }]),
    ...details.filter((detail) => !isBefore(detail)),
  ];
  // Given as plain strings, they would be parsed as hand-written text with quotes and escapes.
  return attributes.map(({ type, value }) => ({ [type]: [{ utf8String: value }] }));
}

function extensionsOf(asked: CertificateRequest, usages: readonly string[]): Extension[] {
  const flags = usages.reduce((all, usage) => all | (KEY_USAGES[usage] ?? 0), 0);
  const purposes = [...new Set(usages.flatMap((usage) => PURPOSES[usage] ?? []))];
  const names = alternativeNames(asked);
  // In the order of Go's x509.
  return [
    ...(flags === 0 ? [] : [new KeyUsagesExtension(flags, true)]),
    ...(purposes.length === 0 ? [] : [new ExtendedKeyUsageExtension(purposes)]),
    new BasicConstraintsExtension(false, undefined, true),
    ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
  ];
}

function alternativeNames(asked: CertificateRequest): JsonGeneralNames {
  const { dnsNames, emailAddresses, ipAddresses, uris } = asked;
  return [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...emailAddresses.map((value) => ({ type: 'email' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
    ...uris.map((value) => ({ type: 'url' as const, value })),
  ];
}

/** Accepts any form of PEM and any kind of signing key. */
async function signingKey(pem: string, algorithm: webcrypto.EcKeyAlgorithm): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
