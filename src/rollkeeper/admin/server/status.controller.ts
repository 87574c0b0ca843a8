import { Controller, Get, Inject, Header } from '@nestjs/common';
import type { LeadershipStatus, ReplicaStatus } from './status-source.js';
import { StatusSource } from './status-source.js';
import { StoreWatch } from './store-watch.js';
import { MetricsSource } from './metrics-source.js';
import { OPENAPI_DOCUMENT } from './openapi-document.js';
import { Shows } from './route-sight.js';

/**
 * `/admin/status`: this replica's identity, the leader, informers and queues. `/admin/leadership`: past leaders, since
 * when, and why they changed.
 */
@Controller('admin')
@Shows('cluster')
export class StatusController {
  constructor(
    @Inject(StatusSource) private readonly source: StatusSource,
    @Inject(StoreWatch) private readonly store: StoreWatch,
  ) {}

  @Get('status')
  async status(): Promise<ReplicaStatus> {
    const status = await this.source.status();
    return { ...status, store: this.store.view() };
  }

  @Get('leadership')
  leadership(): LeadershipStatus {
    return this.source.leadership();
  }
}

/** `/metrics` for Prometheus. */
@Controller()
@Shows('cluster')
export class MetricsController {
  constructor(@Inject(MetricsSource) private readonly metrics: MetricsSource) {}

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  serve(): Promise<string> {
    return this.metrics.serialize();
  }
}

/** The description of everything that the admin port serves. */
@Controller('admin')
@Shows('cluster')
export class OpenApiController {
  @Get('openapi.json')
  document(): typeof OPENAPI_DOCUMENT {
    return OPENAPI_DOCUMENT;
  }
}
