// The certificate library looks for it when loaded, so this import has to stay first.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Extension, JsonGeneralName } from '@peculiar/x509';
import type { KeyPair } from './key-pair.js';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
const CA_DAYS = 3650;
const SERVER_DAYS = 365;
/** Certificates are backdated a little for clients whose clock is slow. */
const BACKDATE_MS = 5 * 60_000;
const crypto: webcrypto.Crypto = webcrypto;

type KeyOfPair = webcrypto.CryptoKey;
type Keys = webcrypto.CryptoKeyPair;

export interface Authority {
  readonly certificate: X509Certificate;
  readonly keys: Keys;
  readonly pem: KeyPair;
}

/** A certificate authority, valid for ten years. */
export async function createAuthority(nowMs: number): Promise<Authority> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=rollkeeper-ca',
      notBefore: new Date(nowMs - BACKDATE_MS),
      notAfter: new Date(nowMs + CA_DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    crypto,
  );
  return { certificate, keys, pem: { cert: certificate.toString('pem'), key: await toPem(keys.privateKey) } };
}

/** A server certificate for these hosts (names or IP addresses), valid for one year. */
export async function createServerCertificate(
  authority: Authority,
  hosts: readonly string[],
  nowMs: number,
): Promise<KeyPair> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create(
    {
      subject: 'CN=rollkeeper-apiserver',
      issuer: authority.certificate.subject,
      notBefore: new Date(nowMs - BACKDATE_MS),
      notAfter: new Date(nowMs + SERVER_DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: authority.keys.privateKey,
      extensions: serverExtensions(hosts),
    },
    crypto,
  );
  return { cert: certificate.toString('pem'), key: await toPem(keys.privateKey) };
}

/** A self-signed server certificate for these hosts (names or IP addresses), valid for one year. */
export async function createSelfSigned(
  commonName: string,
  hosts: readonly string[],
  nowMs: number,
): Promise<KeyPair> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${commonName}`,
      notBefore: new Date(nowMs - BACKDATE_MS),
      notAfter: new Date(nowMs + SERVER_DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: serverExtensions(hosts),
    },
    crypto,
  );
  return { cert: certificate.toString('pem'), key: await toPem(keys.privateKey) };
}

function serverExtensions(hosts: readonly string[]): Extension[] {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(hosts.map(generalName)),
  ];
}

function generalName(host: string): JsonGeneralName {
  return { type: /^[\d.]+$|:/.test(host) ? 'ip' : 'dns', value: host };
}

async function generateKeys(): Promise<Keys> {
  return await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function toPem(key: KeyOfPair): Promise<string> {
  return PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

/** An authority from its PEM files. */
export async function loadAuthority(pem: KeyPair): Promise<Authority> {
  const certificate = new X509Certificate(pem.cert);
  const der = PemConverter.decodeFirst(pem.key);
  const privateKey = await crypto.subtle.importKey('pkcs8', der, ALGORITHM, true, ['sign']);
  const publicKey = await crypto.subtle.importKey('spki', certificate.publicKey.rawData, ALGORITHM, true, [
    'verify',
  ]);
  return { certificate, keys: { privateKey, publicKey }, pem };
}
