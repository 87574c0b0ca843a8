import type { Clock, Logger } from '@rollkeeper/runtime';
import { doublingDelayMs, pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { CertificateSource } from './certificates.js';
import type { Publication } from './publish-configurations.js';
import { publishConfigurations } from './publish-configurations.js';
import { unconvertedProblem } from './unconverted.js';
import type { WebhookListener } from './webhook-listener.js';

interface WebhookKeeperOptions {
  readonly listener: WebhookListener;
  readonly certificates: CertificateSource;
  readonly publication: Publication;
  /** Whether this replica renews certificates and keeps the configurations now. */
  readonly isInCharge: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

/** Keeps the certificate of the server, and what the API server knows of it. */
export class WebhookKeeper {
  private published: string | undefined;
  private problem: string | undefined = 'has no certificate yet';
  /** Why objects are not converted. */
  private unconverted: string | undefined = 'whether objects are converted is not known yet';

  constructor(private readonly options: WebhookKeeperOptions) {}

  /** For readiness. @throws Error saying why the webhooks cannot be called */
  check(): void {
    if (!this.options.listener.isServing) throw new Error(this.problem ?? 'is not served');
    if (this.unconverted !== undefined) throw new Error(this.unconverted);
  }

  /** Until aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.options;
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = LOOK_EVERY_MS;
      try {
        await this.look();
        failures = 0;
        this.problem = undefined;
      } catch (error) {
        this.problem = errorMessage(error);
        logger.warn('the certificates or configurations of the webhooks could not be kept', {
          error: this.problem,
        });
        waitMs = doublingDelayMs(failures++, { firstMs: FIRST_RETRY_MS, longestMs: LONGEST_RETRY_MS });
      }
      await pause(clock, waitMs, signal);
    }
  }

  /** Once: serves the certificate there is, and, where this replica is in charge, sees to it that it is good and trusted. */
  async look(): Promise<void> {
    const { certificates, isInCharge, listener, publication } = this.options;
    const mayChange = isInCharge();
    const { ca, served } = await certificates.look(mayChange, this.published);
    listener.show(served);
    try {
      if (mayChange) {
        await publishConfigurations(publication, ca);
        this.published = ca;
      }
    } finally {
      this.unconverted = await unconvertedProblem(publication);
    }
    if (this.unconverted !== undefined) throw new Error(this.unconverted);
  }
}
