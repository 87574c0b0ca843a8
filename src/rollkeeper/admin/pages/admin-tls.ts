import { hostname, networkInterfaces } from 'node:os';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { CertificateSource } from '@rollkeeper/tls';
import { ServedCertificate, certificateFiles, selfMadeCertificate } from '@rollkeeper/tls';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

export interface AdminTlsOptions {
  readonly host: string;
  /** PEM files, both or neither. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Plain HTTP regardless of the address. */
  readonly insecureHttp: boolean;
}

/** The user-visible names of these options. */
type AdminTlsNames = Readonly<Record<'certFile' | 'keyFile' | 'insecureHttp', string>>;

/** Whether and with what the admin port uses TLS. */
export type AdminTls =
  | { readonly serves: 'files'; readonly certFile: string; readonly keyFile: string }
  | { readonly serves: 'self-made' }
  /** `inClear`: tokens cross a network unencrypted, as explicitly configured. */
  | { readonly serves: 'plain-http'; readonly inClear: boolean };

/**
 * TLS if the port is reachable from elsewhere, unless explicitly disabled; and whenever a certificate is named.
 * @throws InvalidOptionError naming the option
 */
export function decideAdminTls(options: AdminTlsOptions, names: AdminTlsNames): AdminTls {
  const { certFile, host, insecureHttp, keyFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const missing = certFile === undefined ? names.certFile : names.keyFile;
    throw new InvalidOptionError(missing, 'is needed too: a certificate and its private key go together');
  }
  if (certFile !== undefined && keyFile !== undefined) {
    if (insecureHttp)
      throw new InvalidOptionError(names.insecureHttp, `contradicts ${names.certFile}: one or the other`);
    return { serves: 'files', certFile, keyFile };
  }
  const isLocal = isLoopbackHost(host);
  return isLocal || insecureHttp ? { serves: 'plain-http', inClear: !isLocal } : { serves: 'self-made' };
}

/** Only unambiguous names count as this machine. */
function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}

/** The certificate of the admin port; null: plain HTTP. @throws StartupError naming `option`, the one of the file */
export async function loadAdminCertificate(
  tls: AdminTls,
  host: string,
  { clock, logger, option }: { readonly clock: Clock; readonly logger: Logger; readonly option: string },
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
  return ServedCertificate.load({ source, clock, logger, option });
}

/** Names and addresses of this machine, as far as it knows them. */
function ownNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  // Link-local addresses carry a zone, which a certificate cannot name.
  const reachable = addresses.map(({ address }) => address).filter((address) => !address.includes('%'));
  const given = /^(0\.0\.0\.0|\[?::\]?)$/.test(host) ? [] : [host];
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...given, ...reachable])];
}
