import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ControllerManager, ShutdownError } from '@rollkeeper/runtime';
import { controllerOfProvider } from './reconciles.decorator.js';

/** Whether the application's start is the manager's. */
export const AUTO_RUN = Symbol('rollkeeper:autoRun');

/**
 * Runs the manager for as long as the application does: starts it when all modules are there, with every provider that is a
 * controller; stops it in the first phase of the shutdown, while what reconcilers use is still there. The
 * application waits for the keys that are being worked on.
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
  ) {}

  onApplicationBootstrap(): void {
    const controllers = this.discovery
      .getProviders()
      .map(({ instance }) => controllerOfProvider(instance))
      .filter((controller) => controller !== undefined);
    this.manager.add(...controllers).assemble();
    if (this.autoRun) this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopper.abort(new ShutdownError('the application stops'));
    await (this.running ?? this.manager.close());
  }

  private run(): void {
    // A manager that has ended does not come back: the process has to be started again.
    this.manager.health.add('livez', { name: 'manager', check: () => this.assertNotFailed() });
    this.running = this.manager.run(this.stopper.signal).catch((error: unknown) => {
      this.failure = error as Error;
      this.manager.logger.error('the manager has failed; the process must be started again', { error });
    });
  }

  private assertNotFailed(): void {
    if (this.failure) throw this.failure;
  }
}
