import { readNamedFile } from '@rollkeeper/machinery/files';
import type { Clock } from '@rollkeeper/machinery/clock';
import { isNearItsEnd } from './key-pair.js';
import type { KeyPair } from './key-pair.js';

/** The source of a server's certificate. Polled; returns the certificate to serve now. */
export interface CertificateSource {
  /** For messages: the file names, or that it is self-signed. */
  readonly description: string;
  /** @param current the certificate being served; may be returned again */
  read(current: KeyPair | undefined): Promise<KeyPair>;
}

/** Files maintained outside this process: by cert-manager, a mounted Secret, an administrator. */
export function certificateFiles(certFile: string, keyFile: string): CertificateSource {
  return {
    description: `${certFile} and ${keyFile}`,
    read: async () => {
      const [cert, key] = await Promise.all([readNamedFile(certFile), readNamedFile(keyFile)]);
      return { cert, key };
    },
  };
}

/** A certificate (valid for a year) is replaced when less than this is left. */
const RENEW_BEFORE_MS = 30 * 86_400_000;

/**
 * A self-signed certificate that lives as long as the process; the private key is never written anywhere.
 * @param hosts names and addresses at which clients reach the server
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
      // Imported lazily: the library is large, and most processes serve no TLS.
      const { createSelfSigned } = await import('./certificates.js');
      return createSelfSigned(commonName, hosts, clock.now());
    },
  };
}
