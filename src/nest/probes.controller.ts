import { Controller, Get, Header, Inject } from '@nestjs/common';
import type { HealthCheckResult } from '@nestjs/terminus';
import { HealthCheckService } from '@nestjs/terminus';
import { ControllerManager } from '@rollkeeper/runtime';
import { RollkeeperHealthIndicator } from './rollkeeper.health.js';

/**
 * Serves `/livez`, `/readyz`, `/healthz` (by terminus) and `/metrics` (Prometheus text) on the application's own port.
 * For an application without HTTP (`NestFactory.createApplicationContext`), the option `probes` opens a separate port.
 */
@Controller()
export class ProbesController {
  constructor(
    @Inject(HealthCheckService) private readonly terminus: HealthCheckService,
    @Inject(RollkeeperHealthIndicator) private readonly rollkeeper: RollkeeperHealthIndicator,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
  ) {}

  @Get('livez')
  livez(): Promise<HealthCheckResult> {
    return this.terminus.check(this.rollkeeper.checks('livez'));
  }

  @Get('readyz')
  readyz(): Promise<HealthCheckResult> {
    return this.terminus.check(this.rollkeeper.checks('readyz'));
  }

  @Get('healthz')
  healthz(): Promise<HealthCheckResult> {
    return this.terminus.check(this.rollkeeper.checks('healthz'));
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  metrics(): Promise<string> {
    return this.manager.metrics.serialize();
  }
}
