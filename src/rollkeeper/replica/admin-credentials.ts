import type { Clock } from '@rollkeeper/machinery/clock';
import type { ServedCertificate } from '@rollkeeper/tls';
import { loadAdminCertificate, readAdminToken } from '../admin/pages/index.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { ADMIN_TLS_NAMES } from './replica.options.js';
import type { ReplicaTelemetry } from './replica-telemetry.service.js';

/** The token that allows changes, and the admin port's certificate. */
export class AdminCredentials {
  constructor(
    /** Null: no token file is named. */
    readonly token: string | null,
    /** Null: the port uses plain HTTP. */
    readonly certificate: ServedCertificate | null,
  ) {}

  /** @throws StartupError naming the option */
  static async load(
    this: void,
    options: CompiledReplicaOptions,
    { logger }: Pick<ReplicaTelemetry, 'logger'>,
    clock: Clock,
  ): Promise<AdminCredentials> {
    const token = readAdminToken(options['admin-token-file'], '--admin-token-file');
    const certificate = await loadAdminCertificate(options.adminTls, options['admin-host'], {
      clock,
      logger,
      option: ADMIN_TLS_NAMES.certFile,
    });
    return new AdminCredentials(token, certificate);
  }
}
