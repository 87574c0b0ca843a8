import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import type { HealthRegistry } from '../health/index.js';
import type { Metrics } from '../telemetry/index.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import type { StatusSource } from './status-source.js';
import { StatusController } from './status.controller.js';
import { HEALTH_REGISTRY, METRICS_SOURCE, STATUS_SOURCE } from './tokens.js';

export interface AdminModuleOptions {
  readonly health: HealthRegistry;
  readonly metrics: Metrics;
  readonly status: StatusSource;
}

/** The same, as tokens of providers that `imports` export. */
export interface AdminModuleAsyncOptions {
  readonly imports: NonNullable<DynamicModule['imports']>;
  readonly health: symbol;
  readonly metrics: symbol;
  readonly status: symbol;
}

/** The admin port's pages: health, metrics, status. */
@Module({})
export class AdminModule {
  static forRoot({ health, metrics, status }: AdminModuleOptions): DynamicModule {
    return describeModule([
      { provide: HEALTH_REGISTRY, useValue: health },
      { provide: METRICS_SOURCE, useValue: metrics },
      { provide: STATUS_SOURCE, useValue: status },
    ]);
  }

  static forRootAsync({ health, imports, metrics, status }: AdminModuleAsyncOptions): DynamicModule {
    const providers = [
      { provide: HEALTH_REGISTRY, useExisting: health },
      { provide: METRICS_SOURCE, useExisting: metrics },
      { provide: STATUS_SOURCE, useExisting: status },
    ];
    return describeModule(providers, imports);
  }
}

function describeModule(
  providers: Provider[],
  imports: NonNullable<DynamicModule['imports']> = [],
): DynamicModule {
  return {
    module: AdminModule,
    imports: [TerminusModule.forRoot({ logger: false }), ...imports],
    controllers: [HealthController, MetricsController, StatusController],
    providers,
  };
}
