import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { ControllerDefinition, CreateManagerOptions } from '@rollkeeper/runtime';
import { ControllerManager, createManager } from '@rollkeeper/runtime';
import type { WebhookServer } from '@rollkeeper/webhooks';
import { apiClientProvider, listerProviders } from './injection.js';
import { AUTO_RUN, ManagerRunner, WEBHOOK_SERVER } from './manager-runner.service.js';
import { ProbesController } from './probes.controller.js';
import { DefinedController } from './reconciles.decorator.js';
import { RollkeeperHealthIndicator } from './rollkeeper.health.js';

/** Options of the module in addition to the manager's. */
export interface RollkeeperModuleExtras {
  /** Whether the application serves `/livez`, `/readyz`, `/healthz` and `/metrics`. @default true */
  readonly probeRoutes?: boolean;
  /**
   * Whether the manager runs as soon as the application has started. With `false`, call `ControllerManager.run`
   * yourself and handle its rejection. @default true
   */
  readonly autoRun?: boolean;
  /** Serves the classes with `@Webhook`, and the webhooks that it was made with. @default no webhooks */
  readonly webhooks?: WebhookServer;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<CreateManagerOptions>(
  {
    moduleName: 'Rollkeeper',
  },
)
  .setClassMethodName('forRoot')
  .setExtras<RollkeeperModuleExtras>(
    { probeRoutes: true, autoRun: true, webhooks: undefined },
    (definition, { autoRun, probeRoutes, webhooks = null }) => ({
      ...definition,
      // A process has one manager; the controllers of every feature module join it.
      global: true,
      providers: [
        ...(definition.providers ?? []),
        { provide: AUTO_RUN, useValue: autoRun },
        { provide: WEBHOOK_SERVER, useValue: webhooks },
      ],
      controllers: probeRoutes ? [ProbesController] : [],
    }),
  )
  .build();

/**
 * A manager for the controllers of a Nest application: `forRoot` or `forRootAsync` once, with the options of
 * `createManager`; `forFeature` wherever there are controllers. The manager starts after the application and stops
 * first when the application closes, so call `app.enableShutdownHooks()` in `main.ts`.
 */
@Module({
  imports: [DiscoveryModule, TerminusModule.forRoot({ logger: false })],
  providers: [
    {
      provide: ControllerManager,
      inject: [MODULE_OPTIONS_TOKEN, WEBHOOK_SERVER],
      useFactory: (options: CreateManagerOptions, webhooks: WebhookServer | null) =>
        createManager(
          webhooks ? { ...options, extensions: [...(options.extensions ?? []), webhooks] } : options,
        ),
    },
    apiClientProvider,
    ManagerRunner,
    RollkeeperHealthIndicator,
  ],
  exports: [ControllerManager, apiClientProvider, RollkeeperHealthIndicator],
})
export class RollkeeperModule extends ConfigurableModuleClass {
  /**
   * Registers controllers, and other classes that inject caches.
   * @param features classes (with `@Reconciles` or without) and results of `defineController`
   * @param imports modules whose providers they inject
   */
  static forFeature(
    features: readonly (Type | ControllerDefinition)[],
    imports: DynamicModule['imports'] = [],
  ): DynamicModule {
    const classes = features.filter((feature) => typeof feature === 'function');
    const definitions = features.filter((feature) => typeof feature !== 'function');
    return {
      module: RollkeeperFeatureModule,
      imports,
      providers: [...classes, ...listerProviders(classes), ...definitions.map(definedController)],
      exports: [...classes],
    };
  }
}

@Module({})
class RollkeeperFeatureModule {}

function definedController(definition: ControllerDefinition): Provider {
  return {
    provide: `rollkeeper:Controller(${definition.name})`,
    useValue: new DefinedController(definition),
  };
}
