import { Controller, Get, Header, Inject } from '@nestjs/common';
import type { Metrics } from '../../kit/telemetry/index.js';
import { METRICS_SOURCE } from './tokens.js';

/** `/metrics` for Prometheus. */
@Controller()
export class MetricsController {
  constructor(@Inject(METRICS_SOURCE) private readonly metrics: Metrics) {}

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  serve(): Promise<string> {
    return this.metrics.serialize();
  }
}
