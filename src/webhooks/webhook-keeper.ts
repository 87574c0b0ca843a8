import type { Clock, Logger, ApiClient } from '@rollkeeper/runtime';
import { doublingDelayMs, pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { CertificateSource } from './certificates.js';
import type { Publication } from './publish-configurations.js';
import { publishConfigurations } from './publish-configurations.js';
import type { WebhookListener } from './webhook-listener.js';
import { CustomResourceDefinition, isForbidden, unlessGone } from '@rollkeeper/runtime';
import type { WebhookDefinition } from './define-webhook.js';
import { clientConfigs, conversionsOf } from './webhook-configurations.js';
import type { CompiledWebhookServerOptions } from './webhook-server.options.js';

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

interface ConvertedKinds {
  readonly client: Pick<ApiClient, 'get'>;
  readonly webhooks: readonly WebhookDefinition[];
  readonly reachedAt: CompiledWebhookServerOptions['reachedAt'];
  readonly how: CompiledWebhookServerOptions['configurations'];
}

/**
 * Why the API server stores objects without the conversions of the webhooks, so that fields of other versions are lost.
 * A definition that is not installed has no objects.
 * @returns undefined if each definition that is installed is converted by a webhook. With configurations `leave`, one that
 *   must not be read counts as converted, because that right is needed for nothing else.
 * @throws what reading a definition throws, but for a missing right
 */
export async function unconvertedProblem({
  client,
  how,
  reachedAt,
  webhooks,
}: ConvertedKinds): Promise<string | undefined> {
  for (const name of conversionsOf(webhooks, clientConfigs(reachedAt, undefined)).keys()) {
    try {
      const definition = await unlessGone(
        client.get<CustomResourceDefinition>(CustomResourceDefinition, { name }),
      );
      const strategy = definition?.spec.conversion?.strategy ?? 'None';
      if (definition && strategy !== 'Webhook')
        return `the definition ${name} is not converted by its webhook: spec.conversion.strategy is ${strategy}, so fields of other versions are lost`;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (how !== 'leave')
        return `whether the definition ${name} is converted cannot be read: ${errorMessage(error)}; rollkeeper generate rbac --webhooks ${how} writes the rights`;
    }
  }
  return undefined;
}
