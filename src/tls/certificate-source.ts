import { readFile } from 'node:fs/promises';
import type { Clock } from '@rollkeeper/machinery/clock';
import { isNearItsEnd } from './key-pair.js';
import type { KeyPair } from './key-pair.js';

/** Where a server's certificate comes from. Asked again and again; gives what is to be served now. */
export interface CertificateSource {
  /** For people: the files, or that it is self-made. */
  readonly description: string;
  /** @param current what is served; may be given back */
  read(current: KeyPair | undefined): Promise<KeyPair>;
}

/** Files that somebody else keeps: cert-manager, a mounted Secret, a person. */
export function certificateFiles(certFile: string, keyFile: string): CertificateSource {
  return {
    description: `${certFile} and ${keyFile}`,
    read: async () => {
      const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
      return { cert, key };
    },
  };
}

/** With less than this left, of a year, another one is made. */
const RENEW_BEFORE_MS = 30 * 86_400_000;

/**
 * A certificate that the process makes for itself and for as long as it lives; the private key is never written anywhere.
 * @param hosts names and addresses by which the server is reached
 */
export function selfMadeCertificate(
  commonName: string,
  hosts: readonly string[],
  clock: Pick<Clock, 'now'>,
): CertificateSource {
  return {
    description: 'self-made',
    read: async (current) => {
      if (current && !isNearItsEnd(current.cert, clock.now(), RENEW_BEFORE_MS)) return current;
      // Only now: its library is large, and most processes serve no TLS.
      const { createSelfSigned } = await import('./certificates.js');
      return createSelfSigned(commonName, hosts, clock.now());
    },
  };
}
