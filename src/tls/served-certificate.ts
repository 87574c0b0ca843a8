import { X509Certificate } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { IllegalStateError, StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { CertificateSource } from './certificate-source.js';
import type { KeyPair } from './key-pair.js';
import { fingerprintOf, problemOf } from './key-pair.js';

export interface ServedCertificateDependencies {
  readonly source: CertificateSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For messages: the options that name the certificate. */
  readonly option: string;
}

/** Polling interval, milliseconds; the same as controller-runtime's certwatcher. */
const LOOK_EVERY_MS = 10_000;

/**
 * The certificate of a server, reloaded while it is served. One that cannot be read or does not match its key is
 * ignored: usually its files are just being replaced.
 */
export class ServedCertificate {
  private readonly listeners = new Set<(certificate: ServedCertificate) => void>();
  private hasRun = false;
  private complaint: string | undefined;

  private constructor(
    private readonly deps: ServedCertificateDependencies,
    private served: KeyPair,
    private former?: KeyPair,
  ) {}

  /** @throws StartupError naming the option */
  static async load(deps: ServedCertificateDependencies): Promise<ServedCertificate> {
    const { option, source } = deps;
    try {
      const pair = await source.read(undefined);
      const problem = problemOf(pair);
      if (problem !== undefined) throw new StartupError(problem);
      return new ServedCertificate(deps, pair);
    } catch (error) {
      throw new StartupError(`${option}: ${source.description}: ${errorMessage(error)}`, { cause: error });
    }
  }

  get current(): KeyPair {
    return this.served;
  }

  /** When the current one ends, epoch milliseconds. */
  get endsAtMs(): number {
    return new X509Certificate(this.served.cert).validToDate.getTime();
  }

  /** The fingerprint of the current certificate, then of the previous one, which some clients may still see. */
  get fingerprints(): readonly string[] {
    return [this.served, ...(this.former ? [this.former] : [])].map(({ cert }) => fingerprintOf(cert));
  }

  /** Called at each change; returns the unsubscribe. */
  onChange(listener: (certificate: ServedCertificate) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Polls for a new certificate until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the certificate is already being watched');
    this.hasRun = true;
    while (!signal.aborted) {
      if (await pause(this.deps.clock, LOOK_EVERY_MS, signal)) await this.look();
    }
  }

  private async look(): Promise<void> {
    const { logger, source } = this.deps;
    try {
      const pair = await source.read(this.served);
      if (pair.cert === this.served.cert && pair.key === this.served.key) return;
      const problem = problemOf(pair);
      if (problem !== undefined) return this.complain(problem);
      this.complaint = undefined;
      this.former = this.served;
      this.served = pair;
      logger.info('serving another certificate', {
        source: source.description,
        sha256: fingerprintOf(pair.cert),
      });
      for (const listener of this.listeners) listener(this);
    } catch (error) {
      this.complain(errorMessage(error));
    }
  }

  /** Logs the same problem only once. */
  private complain(problem: string): void {
    if (this.complaint === problem) return;
    this.complaint = problem;
    this.deps.logger.warn('could not reload the certificate; keeping the current one', {
      source: this.deps.source.description,
      error: problem,
    });
  }
}
