import { Body, Controller, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { withoutSecrets } from '@rollkeeper/controllers/deployment';
import type { RolloutRequest } from '../../insight/rollout/index.js';
import { prepareUndo, requestOfRollout } from '../../insight/rollout/index.js';
import { ACT_BODIES } from '../acts/act.js';
import { AdminPorts } from './admin-ports.js';
import { answered } from './api-answers.js';
import type { CallerApi } from './caller-client.js';
import { CallerClient, whoAsks } from './caller-client.js';
import { parseBody } from './request-parsing.js';
import type { KindQuery, RolloutParams, RolloutChanges } from './rollout-target.js';
import { findRolloutTarget } from './rollout-target.js';
import { Shows } from './route-sight.js';

const REQUEST = ACT_BODIES.plain.pick({ by: true });
const UNDO = z.strictObject({ ...ACT_BODIES.plain.shape, revision: z.int().positive().optional() });

interface Done {
  /** For people. */
  readonly said: string;
}

/** The requests of people to rollouts, with the rights of the caller. */
@Controller('admin/rollouts/:namespace/:name')
@Shows('namespace')
export class RolloutRequestsController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(CallerClient) private readonly callers: CallerClient,
  ) {}

  @Post('promote')
  @HttpCode(200)
  promote(
    @Param() params: RolloutParams,
    @Body() body: unknown,
    @Query() { api, kind }: KindQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Done> {
    return this.ask('promote', params, { body, api, kind }, this.callers.of(request, response));
  }

  @Post('abort')
  @HttpCode(200)
  abort(
    @Param() params: RolloutParams,
    @Body() body: unknown,
    @Query() { api, kind }: KindQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Done> {
    return this.ask('abort', params, { body, api, kind }, this.callers.of(request, response));
  }

  @Post('retry')
  @HttpCode(200)
  retry(
    @Param() params: RolloutParams,
    @Body() body: unknown,
    @Query() { api, kind }: KindQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Done> {
    return this.ask('retry', params, { body, api, kind }, this.callers.of(request, response));
  }

  @Post('undo')
  @HttpCode(200)
  async undo(
    @Param() { name, namespace }: RolloutParams,
    @Body() body: unknown,
    @Query() { api, kind }: KindQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RolloutChanges> {
    const caller = this.callers.of(request, response);
    const { by: named, reason, revision = 0 } = parseBody(UNDO, body ?? {});
    const { name: by } = whoAsks(caller, named);
    const target = await findRolloutTarget(this.ports, { namespace, name, api, kind }, caller);
    const note = { by, reason: reason === '' ? undefined : reason };
    const undo = await answered(prepareUndo(target, BigInt(revision), note));
    await answered(undo.apply());
    this.ports.logger.info('a rollout was undone by hand', { namespace, name, revision, by });
    return { changes: undo.changes.map(withoutSecrets) };
  }

  private async ask(
    request: RolloutRequest,
    { name, namespace }: RolloutParams,
    { api, body, kind }: KindQuery & { readonly body: unknown },
    caller: CallerApi,
  ): Promise<Done> {
    const { name: by } = whoAsks(caller, parseBody(REQUEST, body ?? {}).by);
    const target = await findRolloutTarget(this.ports, { namespace, name, api, kind }, caller);
    const said = await answered(requestOfRollout(target, request, by));
    this.ports.logger.info('a person spoke to a rollout', { namespace, name, request, by });
    return { said };
  }
}
