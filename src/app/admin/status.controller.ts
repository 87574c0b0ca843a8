import { Controller, Get, Inject, Header } from '@nestjs/common';
import type { LeadershipStatus, ReplicaStatus, StatusSource } from './status-source.js';
import { STATUS_SOURCE, METRICS_SOURCE } from './tokens.js';
import type { Metrics } from '../../kit/telemetry/index.js';
import { OPENAPI_DOCUMENT } from './openapi-document.js';

/**
 * `/admin/status`: who this replica is, who leads, what its informers and queues look like. `/admin/leadership`: who
 * led, since when, and why that changed.
 */
@Controller('admin')
export class StatusController {
  constructor(@Inject(STATUS_SOURCE) private readonly source: StatusSource) {}

  @Get('status')
  status(): Promise<ReplicaStatus> {
    return this.source.status();
  }

  @Get('leadership')
  leadership(): LeadershipStatus {
    return this.source.leadership();
  }
}

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

/** The description of everything that the admin port serves. */
@Controller('admin')
export class OpenApiController {
  @Get('openapi.json')
  document(): typeof OPENAPI_DOCUMENT {
    return OPENAPI_DOCUMENT;
  }
}
