import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { ControllerDefinition, CreateManagerOptions } from '@rollkeeper/runtime';
import { ControllerManager, createManager } from '@rollkeeper/runtime';
import { apiClientProvider, listerProviders } from './injection.js';
import { AUTO_RUN, ManagerRunner } from './manager-runner.service.js';
import { ProbesController } from './probes.controller.js';
import { DefinedController } from './reconciles.decorator.js';
import { RollkeeperHealthIndicator } from './rollkeeper.health.js';

/** Besides the manager's options. */
export interface RollkeeperModuleExtras {
  /** Whether `/livez`, `/readyz`, `/healthz` and `/metrics` are routes of the application. @default true */
  readonly probeRoutes?: boolean;
  /**
   * Whether the manager runs as soon as the application has started. Otherwise whoever has an order of its own calls
   * `ControllerManager.run`, and is told when it fails. @default true
   */
  readonly autoRun?: boolean;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<CreateManagerOptions>(
  {
    moduleName: 'Rollkeeper',
  },
)
  .setClassMethodName('forRoot')
  .setExtras<RollkeeperModuleExtras>(
    { probeRoutes: true, autoRun: true },
    (definition, { autoRun, probeRoutes }) => ({
      ...definition,
      // One process has one manager, and every feature its controllers in it.
      global: true,
      providers: [...(definition.providers ?? []), { provide: AUTO_RUN, useValue: autoRun }],
      controllers: probeRoutes ? [ProbesController] : [],
    }),
  )
  .build();

/**
 * A manager for the controllers of a Nest application: `forRoot` or `forRootAsync` once, with the options of `createManager`;
 * `forFeature` where controllers are. It starts when the application has started, and stops first when that closes, so
 * `app.enableShutdownHooks()` belongs in `main.ts`.
 */
@Module({
  imports: [DiscoveryModule, TerminusModule.forRoot({ logger: false })],
  providers: [
    { provide: ControllerManager, inject: [MODULE_OPTIONS_TOKEN], useFactory: createManager },
    apiClientProvider,
    ManagerRunner,
    RollkeeperHealthIndicator,
  ],
  exports: [ControllerManager, apiClientProvider, RollkeeperHealthIndicator],
})
export class RollkeeperModule extends ConfigurableModuleClass {
  /**
   * Controllers, and other classes that inject caches.
   * @param features classes, those with `@Reconciles` among them, and what `defineController` has made
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
