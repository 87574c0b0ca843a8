import { Controller, Get, Inject } from '@nestjs/common';
import type { ReplicaStatus, StatusSource } from './status-source.js';
import { STATUS_SOURCE } from './tokens.js';

/** `/admin/status`: who this replica is, who leads, what its informers and queues look like. */
@Controller('admin')
export class StatusController {
  constructor(@Inject(STATUS_SOURCE) private readonly source: StatusSource) {}

  @Get('status')
  status(): Promise<ReplicaStatus> {
    return this.source.status();
  }
}
