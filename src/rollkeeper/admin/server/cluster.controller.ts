import { Body, Controller, Get, Inject, Param, Put, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import type { LoggedDecision } from '../../insight/explain/index.js';
import { LOG_LEVELS } from '@rollkeeper/machinery/logging';
import type { ShownSpan } from '@rollkeeper/opentelemetry';
import type { ObjectiveReport, Samples } from '../../insight/objectives/index.js';
import { AdminPorts } from './admin-ports.js';
import type { ClusterSnapshot, LocalView } from './cluster-view.js';
import { ClusterView } from './cluster-view.js';
import { parseBody, parseCount, parseKeyText, parseName } from './request-parsing.js';
import type { ReplicaStatus } from './status-source.js';
import { Shows } from './route-sight.js';

const logLevelBody = z.object({ level: z.enum(LOG_LEVELS) });

/** Leader, replicas, controllers and workers, configuration, log level. */
@Controller('admin')
@Shows('cluster')
export class ClusterController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ClusterView) private readonly cluster: ClusterView,
  ) {}

  @Get('local')
  @Shows('keys')
  local(): Promise<LocalView> {
    return this.cluster.local();
  }

  /** This replica's decisions: about one key, or all since a time. */
  @Get('local/decisions')
  @Shows('keys')
  decisions(@Query() query: Record<string, unknown>): readonly LoggedDecision[] {
    const { decisions } = this.ports;
    if (query['key'] !== undefined)
      return decisions.of(
        parseName(String(query['controller']), 'controller'),
        parseKeyText(query['key']),
        typeof query['uid'] === 'string' ? parseName(query['uid'], 'uid') : undefined,
      );
    const since = parseCount(query['since'], { fallback: 0, max: Number.MAX_SAFE_INTEGER });
    return decisions.since(since, parseCount(query['limit'], { fallback: 100, max: 1000 }));
  }

  @Get('local/traces/:id')
  @Shows('spans')
  localTrace(@Param('id') id: string): readonly ShownSpan[] {
    return this.ports.traces.of(parseName(id, 'trace id'));
  }

  @Get('traces/:id')
  @Shows('spans')
  trace(@Param('id') id: string): Promise<readonly ShownSpan[]> {
    return this.cluster.trace(parseName(id, 'trace id'));
  }

  /** This replica's own measurements. */
  @Get('local/objectives')
  localObjectives(): Samples {
    return this.ports.objectives?.samples() ?? { firstWrite: [], overhead: [] };
  }

  @Get('objectives')
  objectives(): Promise<readonly ObjectiveReport[]> {
    return this.cluster.objectives();
  }

  @Get('replicas')
  @Shows('keys')
  replicas(): Promise<ClusterSnapshot> {
    return this.cluster.snapshot();
  }

  @Get('controllers')
  async controllers(): Promise<ReplicaStatus['controllers']> {
    return (await this.ports.status.status()).controllers;
  }

  @Get('config')
  config(): Readonly<Record<string, unknown>> {
    return this.ports.config();
  }

  @Get('log-level')
  logLevel(): { level: string } {
    return { level: this.ports.logLevel.get() };
  }

  @Put('log-level')
  setLogLevel(@Body() body: unknown, @Req() request: Request): { level: string } {
    const { level } = parseBody(logLevelBody, body);
    this.ports.logLevel.set(level);
    this.ports.logger.info('log level set', { level, from: request.socket.remoteAddress });
    return { level };
  }
}
