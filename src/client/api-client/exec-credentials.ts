import { X509Certificate } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { CredentialHeaders, Credentials, TlsMaterial } from './cluster-connection.js';
import { bearer } from './credentials.js';
import type { ExecPluginOptions } from './exec-plugin.js';
import { runExecPlugin } from './exec-plugin.js';
import type { Issued } from './renewed-credentials.js';
import { RenewedCredentials } from './renewed-credentials.js';

/**
 * Credentials from a client-go credential plugin: a token, a client certificate, or both. The answer is cached until it
 * expires or the server refuses it; then the plugin runs again.
 */
export class ExecCredentials implements Credentials {
  private readonly issued: RenewedCredentials;
  private newest: Pick<TlsMaterial, 'cert' | 'key'> | undefined;

  constructor(
    private readonly userName: string,
    private readonly plugin: ExecPluginOptions,
    clock: Clock,
  ) {
    this.issued = new RenewedCredentials(() => this.run(), clock);
  }

  /** The client certificate of the newest answer, if it had one; the same object until there is a newer one. */
  get certificate(): Pick<TlsMaterial, 'cert' | 'key'> | undefined {
    return this.newest;
  }

  headers(): Promise<CredentialHeaders> {
    return this.issued.headers();
  }

  invalidate(refused: CredentialHeaders): boolean {
    return this.issued.invalidate(refused);
  }

  private async run(): Promise<Issued> {
    try {
      const { certificate, expiresAtMs, token } = await runExecPlugin(this.plugin);
      const isNew = certificate?.cert !== this.newest?.cert || certificate?.key !== this.newest?.key;
      if (isNew) this.newest = certificate;
      return {
        headers: token ? bearer(token) : {},
        renewAtMs: Math.min(expiresAtMs ?? Infinity, certificate ? endOf(certificate.cert) : Infinity),
      };
    } catch (error) {
      throw new Error(`users "${this.userName}": exec: ${errorMessage(error)}`, { cause: error });
    }
  }
}

/** Expiry of a certificate, milliseconds since the epoch; many plugins do not report it. */
function endOf(cert: string): number {
  return new X509Certificate(cert).validToDate.getTime();
}
