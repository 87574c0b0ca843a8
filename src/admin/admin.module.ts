import type { DynamicModule } from '@nestjs/common';
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

/** The admin port's pages: health, metrics, status. */
@Module({})
export class AdminModule {
  static forRoot({ health, metrics, status }: AdminModuleOptions): DynamicModule {
    return {
      module: AdminModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController, MetricsController, StatusController],
      providers: [
        { provide: HEALTH_REGISTRY, useValue: health },
        { provide: METRICS_SOURCE, useValue: metrics },
        { provide: STATUS_SOURCE, useValue: status },
      ],
    };
  }
}
