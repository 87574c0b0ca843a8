import { Controller, Header, Inject, Post, Query, Res } from '@nestjs/common';
import { Session } from 'node:inspector/promises';
import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot } from 'node:v8';
import type { Response } from 'express';
import { ConflictException } from '@nestjs/common';
import { AdminPorts } from './admin-ports.js';
import { parseCount } from './request-parsing.js';
import { Shows } from './route-sight.js';

const LONGEST_PROFILE_S = 60;

/** Inspects the process. The output may contain secrets, so these count as changes: they need the token. */
@Controller('admin/debug')
@Shows('everything')
export class DebugController {
  private busy = false;

  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {}

  /** Blocks the process while it is taken, about a second per 100 MB. */
  @Post('heap-snapshot')
  async heapSnapshot(@Res() response: Response): Promise<void> {
    await this.alone(async () => {
      response.status(200).attachment(`${this.ports.identity}.heapsnapshot`);
      await pipeline(getHeapSnapshot(), response);
    });
  }

  @Post('cpu-profile')
  @Header('Content-Type', 'application/json')
  async cpuProfile(@Query('seconds') text: unknown, @Res() response: Response): Promise<void> {
    const seconds = Math.max(1, parseCount(text, { fallback: 5, max: LONGEST_PROFILE_S }));
    await this.alone(async () => {
      const session = new Session();
      session.connect();
      try {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
        await this.ports.clock.sleep(seconds * 1000);
        const { profile } = await session.post('Profiler.stop');
        response.status(200).attachment(`${this.ports.identity}.cpuprofile`).send(JSON.stringify(profile));
      } finally {
        session.disconnect();
      }
    });
  }

  private async alone(work: () => Promise<void>): Promise<void> {
    if (this.busy) throw new ConflictException({ error: 'a snapshot or profile is being taken already' });
    this.busy = true;
    try {
      await work();
    } finally {
      this.busy = false;
    }
  }
}
