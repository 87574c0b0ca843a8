import { X509Certificate, createPrivateKey } from 'node:crypto';
import { errorMessage } from '@rollkeeper/machinery/errors';

/** A certificate, followed by its intermediates, and its private key. PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** The SHA-256 of a certificate (the first, if there are several), as `openssl x509 -fingerprint -sha256` shows it. */
export function fingerprintOf(certPem: string): string {
  return new X509Certificate(certPem).fingerprint256;
}

/** Whether less than `marginMs` is left. */
export function isNearItsEnd(certPem: string, nowMs: number, marginMs: number): boolean {
  return new X509Certificate(certPem).validToDate.getTime() - nowMs < marginMs;
}

/** The problem with a pair, for example while only one of its files has been replaced. */
export function problemOf({ cert, key }: KeyPair): string | undefined {
  try {
    const fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    return fits ? undefined : 'the private key does not belong to the certificate';
  } catch (error) {
    return `no certificate and private key in PEM: ${errorMessage(error)}`;
  }
}
