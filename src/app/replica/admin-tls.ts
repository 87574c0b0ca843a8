import { hostname, networkInterfaces } from 'node:os';
import { isLoopbackAddress } from '../admin/index.js';
import type { Clock } from '../../base/clock/index.js';
import { InvalidOptionError } from '../../base/errors/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { CertificateSource } from '../../base/tls/index.js';
import { ServedCertificate, certificateFiles, selfMadeCertificate } from '../../base/tls/index.js';

export interface AdminTlsFlags {
  readonly 'admin-host': string;
  readonly 'admin-tls-cert-file'?: string | undefined;
  readonly 'admin-tls-private-key-file'?: string | undefined;
  readonly 'admin-insecure-http': boolean;
}

/** With what the admin port speaks TLS, if it does. */
export type AdminTls =
  | { readonly serves: 'files'; readonly certFile: string; readonly keyFile: string }
  | { readonly serves: 'self-made' }
  /** `inClear`: tokens cross a network so that others can read them, as somebody asked for. */
  | { readonly serves: 'plain-http'; readonly inClear: boolean };

/**
 * TLS wherever the port can be reached from elsewhere, unless somebody refuses it by name; and wherever a certificate is named.
 * @throws InvalidOptionError naming the option
 */
export function decideAdminTls(flags: AdminTlsFlags): AdminTls {
  const certFile = flags['admin-tls-cert-file'];
  const keyFile = flags['admin-tls-private-key-file'];
  const insecure = flags['admin-insecure-http'];
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const missing = certFile === undefined ? 'admin-tls-cert-file' : 'admin-tls-private-key-file';
    throw new InvalidOptionError(missing, 'is needed too: a certificate and its private key go together');
  }
  if (certFile !== undefined && keyFile !== undefined) {
    if (insecure)
      throw new InvalidOptionError(
        'admin-insecure-http',
        'contradicts admin-tls-cert-file: one or the other',
      );
    return { serves: 'files', certFile, keyFile };
  }
  const isLocal = isLoopbackHost(flags['admin-host']);
  return isLocal || insecure ? { serves: 'plain-http', inClear: !isLocal } : { serves: 'self-made' };
}

/** A name that does not say so is not taken for this machine. */
function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}

/** The certificate of the admin port; null: it speaks plain HTTP. @throws StartupError naming the option */
export async function loadAdminCertificate(
  tls: AdminTls,
  host: string,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<ServedCertificate | null> {
  if (tls.serves === 'plain-http') {
    if (tls.inClear)
      logger.warn('the admin port speaks plain HTTP beyond this machine: tokens can be read on the way', {
        host,
      });
    return null;
  }
  const source: CertificateSource =
    tls.serves === 'files'
      ? certificateFiles(tls.certFile, tls.keyFile)
      : selfMadeCertificate('rollkeeper-admin', ownNames(host), clock);
  return ServedCertificate.load({ source, clock, logger, option: 'admin-tls-cert-file' });
}

/** Under which this machine is reached, as far as it knows itself. */
function ownNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  // Link-local ones carry a zone, which no certificate can name.
  const reachable = addresses.map(({ address }) => address).filter((address) => !address.includes('%'));
  const given = /^(0\.0\.0\.0|\[?::\]?)$/.test(host) ? [] : [host];
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...given, ...reachable])];
}
