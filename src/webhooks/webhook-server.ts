import type { ExtendedManager, ManagerExtension, ManagerExtensionFactory } from '@rollkeeper/runtime';
import type { CertificateSource } from './certificates.js';
import { FileCertificates, SecretCertificates } from './certificates.js';
import type { WebhookDefinition } from './define-webhook.js';
import { WebhookKeeper } from './webhook-keeper.js';
import { WebhookListener } from './webhook-listener.js';
import { createWebhookMetrics } from './webhook-metrics.js';
import type { CompiledWebhookServerOptions, WebhookServerOptions } from './webhook-server.options.js';
import { assertDistinct, compileWebhookServerOptions, hostsOf } from './webhook-server.options.js';

/** An entry of a manager's `extensions`, which more webhooks can be added to until the manager runs. */
export interface WebhookServer extends ManagerExtensionFactory {
  /** @throws InvalidOptionError for a second webhook of a name */
  add(...webhooks: readonly WebhookDefinition[]): WebhookServer;
}

/**
 * The webhooks of an operator, as an entry of its manager's `extensions`. Every replica answers, from before its caches fill,
 * as the API may need a conversion to list, until everything else has ended; the leader, or, before there is one, each replica,
 * keeps certificates and configurations.
 * @throws InvalidOptionError naming the option
 */
export function webhookServer(options: WebhookServerOptions): WebhookServer {
  const compiled = compileWebhookServerOptions(options);
  const webhooks: WebhookDefinition[] = [];
  const server: WebhookServer = Object.assign(
    (({ name }) => new WebhookExtension(name, webhooks, compiled)) satisfies ManagerExtensionFactory,
    {
      add: (...more: readonly WebhookDefinition[]): WebhookServer => {
        assertDistinct([...webhooks, ...more]);
        webhooks.push(...more);
        return server;
      },
    },
  );
  return server.add(...(options.webhooks ?? []));
}

class WebhookExtension implements ManagerExtension {
  readonly background = [{ run: (signal: AbortSignal) => this.run(signal) }];
  private listener: WebhookListener | undefined;
  private keeper: WebhookKeeper | undefined;

  constructor(
    /** The name of the operator. */
    private readonly name: string,
    private readonly webhooks: readonly WebhookDefinition[],
    private readonly options: CompiledWebhookServerOptions,
  ) {}

  async start(manager: ExtendedManager): Promise<void> {
    const { name, options, webhooks } = this;
    const { client, clock, election, health, metrics, tracer } = manager;
    const logger = manager.logger.child({ component: 'webhooks' });
    const { configurationName, configurations: how, host, port, reachedAt } = options;
    this.listener = new WebhookListener(webhooks, {
      ...{ clock, logger, tracer },
      metrics: createWebhookMetrics(metrics.meter),
    });
    const bound = await this.listener.listen(port, host);
    this.keeper = new WebhookKeeper({
      listener: this.listener,
      certificates: this.certificatesOf(manager),
      publication: { client, logger, name: configurationName ?? name, webhooks, reachedAt, how },
      isInCharge: () => election.isLeader || election.leader === '',
      ...{ clock, logger },
    });
    const { keeper } = this;
    health.add('readyz', { name: 'webhooks', check: () => keeper.check() });
    logger.info('serving webhooks', { port: bound, webhooks: webhooks.map((each) => each.name) });
  }

  async close(): Promise<void> {
    await this.listener?.close();
  }

  private async run(signal: AbortSignal): Promise<void> {
    await this.keeper?.run(signal);
  }

  private certificatesOf({ client, clock, logger }: ExtendedManager): CertificateSource {
    const { certificates, reachedAt, secret } = this.options;
    if (certificates !== 'managed') return new FileCertificates(certificates);
    const { namespace = 'service' in reachedAt ? reachedAt.service.namespace : 'default' } = secret;
    const { name = `${this.name}-webhooks` } = secret;
    return new SecretCertificates({
      ...{ client, clock, logger },
      secret: { namespace, name },
      hosts: hostsOf(reachedAt),
    });
  }
}
