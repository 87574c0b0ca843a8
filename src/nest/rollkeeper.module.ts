import type { DynamicModule, Type } from '@nestjs/common';
import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { CreateManagerOptions } from '../kit/index.js';
import { ControllerManager, createManager } from '../kit/index.js';
import { apiClientProvider, listerProviders } from './injection.js';
import { ManagerRunner } from './manager-runner.service.js';
import { ProbesController } from './probes.controller.js';
import { RollkeeperHealthIndicator } from './rollkeeper.health.js';

/** Besides the manager's options. */
export interface RollkeeperModuleExtras {
  /** Whether `/livez`, `/readyz`, `/healthz` and `/metrics` are routes of the application. @default true */
  readonly probeRoutes?: boolean;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<CreateManagerOptions>(
  {
    moduleName: 'Rollkeeper',
  },
)
  .setClassMethodName('forRoot')
  .setExtras<RollkeeperModuleExtras>({ probeRoutes: true }, (definition, { probeRoutes }) => ({
    ...definition,
    // One process has one manager, and every feature its controllers in it.
    global: true,
    controllers: probeRoutes ? [ProbesController] : [],
  }))
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
  /** Controllers, and other classes that inject caches. @param imports modules whose providers they inject */
  static forFeature(classes: readonly Type[], imports: DynamicModule['imports'] = []): DynamicModule {
    return {
      module: RollkeeperFeatureModule,
      imports,
      providers: [...classes, ...listerProviders(classes)],
      exports: [...classes],
    };
  }
}

@Module({})
class RollkeeperFeatureModule {}
