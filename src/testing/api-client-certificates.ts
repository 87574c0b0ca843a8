import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface TestCertificates {
  readonly ca: string;
  readonly server: TestCertificate;
  readonly client: TestCertificate;
  /** Issues another one by the same CA with this lifetime. @param forMs milliseconds, a day by default */
  issue(commonName: string, forMs?: number): Promise<TestCertificate>;
}

/** A CA with a server certificate for `127.0.0.1` and a client certificate, valid for a day. */
export async function makeTestCertificates(name = 'test CA'): Promise<TestCertificates> {
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 86_400_000) };
  const caKeys = await newKeys();
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: `CN=${name}`,
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  });
  const issue = async (commonName: string, forMs = 86_400_000): Promise<TestCertificate> => {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.create({
      notBefore: validity.notBefore,
      notAfter: new Date(Date.now() + forMs),
      subject: `CN=${commonName}`,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
    });
    return { cert: certificate.toString('pem'), key: await privateKeyPem(keys) };
  };
  return { ca: ca.toString('pem'), server: await issue('server'), client: await issue('rollkeeper'), issue };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}
