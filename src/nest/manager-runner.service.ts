import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ControllerManager, InvalidOptionError, ShutdownError } from '@rollkeeper/runtime';
import type { WebhookDefinition, WebhookServer } from '@rollkeeper/webhooks';
import { toError } from '@rollkeeper/machinery/errors';
import { controllerOfProvider } from './reconciles.decorator.js';
import { webhookOfProvider } from './webhook.decorator.js';

/** Token: whether the manager starts with the application. */
export const AUTO_RUN = Symbol('rollkeeper:autoRun');

/** Token: the server of the webhooks, or null. */
export const WEBHOOK_SERVER = Symbol('rollkeeper:webhooks');

/**
 * Runs the manager as long as the application runs. It starts once all modules are initialized, with every provider
 * that is a controller, and stops in the first phase of the shutdown, before anything that reconcilers use. The
 * application waits for syncs in progress.
 */
@Injectable()
export class ManagerRunner implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopper = new AbortController();
  private running: Promise<void> | undefined;
  private failure: Error | undefined;

  constructor(
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(AUTO_RUN) private readonly autoRun: boolean,
    @Inject(WEBHOOK_SERVER) private readonly webhooks: WebhookServer | null,
  ) {}

  onApplicationBootstrap(): void {
    const instances = this.discovery.getProviders().map(({ instance }): unknown => instance);
    const controllers = instances.map(controllerOfProvider).filter((controller) => controller !== undefined);
    this.serve(instances.map(webhookOfProvider).filter((webhook) => webhook !== undefined));
    this.manager.add(...controllers).assemble();
    if (this.autoRun) this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopper.abort(new ShutdownError('the application stops'));
    await (this.running ?? this.manager.close());
  }

  private serve(webhooks: readonly WebhookDefinition[]): void {
    if (webhooks.length === 0) return;
    if (!this.webhooks)
      throw new InvalidOptionError(
        'webhooks',
        `${webhooks.map(({ name }) => name).join(', ')}: RollkeeperModule.forRoot needs a webhookServer`,
      );
    this.webhooks.add(...webhooks);
  }

  private run(): void {
    // A manager that has ended cannot be restarted; the process has to be.
    this.manager.health.add('livez', { name: 'manager', check: () => this.assertNotFailed() });
    this.running = this.manager.run(this.stopper.signal).catch((error: unknown) => {
      this.failure = toError(error);
      this.manager.logger.error('the manager has failed; the process must be started again', { error });
    });
  }

  private assertNotFailed(): void {
    if (this.failure) throw this.failure;
  }
}
