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
  /** Plain HTTP wherever it listens. */
  readonly insecureHttp: boolean;
}

/** What these options are called where people set them. */
export type AdminTlsNames = Readonly<Record<'certFile' | 'keyFile' | 'insecureHttp', string>>;

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

/** A name that does not say so is not taken for this machine. */
function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}

/** The certificate of the admin port; null: it speaks plain HTTP. @throws StartupError naming `option`, the one of the file */
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

/** Under which this machine is reached, as far as it knows itself. */
function ownNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  // Link-local ones carry a zone, which no certificate can name.
  const reachable = addresses.map(({ address }) => address).filter((address) => !address.includes('%'));
  const given = /^(0\.0\.0\.0|\[?::\]?)$/.test(host) ? [] : [host];
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...given, ...reachable])];
}
