import { Controller, Get, Inject } from '@nestjs/common';
import type { LeadershipStatus, ReplicaStatus, StatusSource } from './status-source.js';
import { STATUS_SOURCE } from './tokens.js';

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
