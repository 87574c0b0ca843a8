import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Inject,
  Param,
  Post,
  Query,
  ServiceUnavailableException,
} from '@nestjs/common';
import { z } from 'zod';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { OWNER_UID_INDEX } from '@rollkeeper/client/informer';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import { deploymentTypeOf, readFailures, withoutSecrets } from '@rollkeeper/controllers/deployment';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import type { RevisionReport, RolloutRequest, RolloutTarget, RolloutTrack } from '../rollout/index.js';
import {
  diffRevisions,
  prepareUndo,
  requestOfRollout,
  rolloutHistory,
  rolloutTrack,
} from '../rollout/index.js';
import { AdminPorts } from './admin-ports.js';
import { answered } from './api-answers.js';
import { findDeployment } from './find-deployment.js';
import { parseBody } from './request-parsing.js';

/** What the console shows of a rollout beside its explanation. */
export interface RolloutView {
  /** Where it is in its steps. Absent: it has none. */
  readonly track?: RolloutTrack;
  /** Newest first. */
  readonly history: readonly RevisionReport[];
  /** Whether a template that failed could be tried again. */
  readonly hasFailed: boolean;
}

/** What would change, or has changed: without values that may be secret, since those who may read this page need not be those who may read the Deployment. */
interface Changes {
  readonly changes: readonly TemplateChange[];
}

const WHO = z
  .string('"by" says who asks')
  .trim()
  .min(1, '"by" says who asks')
  .max(100)
  .regex(/^[^\p{Cc}]+$/u, '"by" is one line of text');
const REQUEST = z.strictObject({ by: WHO });
const UNDO = z.strictObject({
  by: WHO,
  revision: z.int().positive().optional(),
  reason: z.string().trim().max(300).optional(),
});

/** The rollouts that look after themselves: their steps, their history, and what people say to them. */
@Controller('admin/rollouts/:namespace/:name')
export class RolloutsController {
  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {}

  @Get()
  show(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query('api') api?: unknown,
  ): RolloutView {
    const { caches, deployment } = findDeployment(this.ports, { namespace, name, api });
    const replicaSets = caches.replicaSets.lister.byIndex(OWNER_UID_INDEX, deployment.metadata.uid ?? '');
    const defaults = (caches.namespacePolicies ?? caches.namespaces)?.lister.get(namespace);
    return {
      track: rolloutTrack(deployment, replicaSets, defaults?.metadata.annotations),
      history: rolloutHistory(deployment, replicaSets).toReversed(),
      hasFailed: readFailures(deployment.metadata.annotations ?? {}).length > 0,
    };
  }

  /** What going back to a revision would change: from what runs to what ran then. */
  @Get('changes')
  async changes(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query('revision') revision: unknown,
    @Query('api') api?: unknown,
  ): Promise<Changes> {
    if (typeof revision !== 'string' || !/^[1-9]\d{0,17}$/.test(revision))
      throw new BadRequestException({ error: 'revision must be the number of one' });
    const target = await this.target(namespace, name, api);
    const changes = await answered(diffRevisions(target, BigInt(revision)));
    return { changes: changes.map(withoutSecrets).map(reversed) };
  }

  @Post('promote')
  @HttpCode(200)
  promote(@Param() params: Params, @Body() body: unknown, @Query('api') api?: unknown): Promise<Done> {
    return this.ask('promote', params, body, api);
  }

  @Post('abort')
  @HttpCode(200)
  abort(@Param() params: Params, @Body() body: unknown, @Query('api') api?: unknown): Promise<Done> {
    return this.ask('abort', params, body, api);
  }

  @Post('retry')
  @HttpCode(200)
  retry(@Param() params: Params, @Body() body: unknown, @Query('api') api?: unknown): Promise<Done> {
    return this.ask('retry', params, body, api);
  }

  @Post('undo')
  @HttpCode(200)
  async undo(
    @Param() { name, namespace }: Params,
    @Body() body: unknown,
    @Query('api') api?: unknown,
  ): Promise<Changes> {
    const { by, reason, revision = 0 } = parseBody(UNDO, body);
    const target = await this.target(namespace, name, api);
    const note = { by, reason: reason === '' ? undefined : reason };
    const undo = await answered(prepareUndo(target, BigInt(revision), note));
    await answered(undo.apply());
    this.ports.logger.info('a rollout was undone by hand', { namespace, name, revision, by });
    return { changes: undo.changes.map(withoutSecrets) };
  }

  private async ask(
    request: RolloutRequest,
    { name, namespace }: Params,
    body: unknown,
    api: unknown,
  ): Promise<Done> {
    const { by } = parseBody(REQUEST, body);
    const target = await this.target(namespace, name, api);
    const said = await answered(requestOfRollout(target, request, by));
    this.ports.logger.info('a person spoke to a rollout', { namespace, name, request, by });
    return { said };
  }

  /** As it is in the API, not in the cache: people decide about what is there. */
  private async target(namespace: string, name: string, api: unknown): Promise<RolloutTarget> {
    const { caches } = findDeployment(this.ports, { namespace, name, api });
    const client = this.client();
    const type = deploymentTypeOf(caches.apiVersion);
    return { client, type, deployment: await answered(client.get<Deployment>(type, { namespace, name })) };
  }

  private client(): ApiClient {
    const { client } = this.ports;
    if (!client) throw new ServiceUnavailableException({ error: 'this replica cannot write to the API' });
    return client;
  }
}

interface Params {
  readonly namespace: string;
  readonly name: string;
}

interface Done {
  /** For people. */
  readonly said: string;
}

function reversed({ field, from, to }: TemplateChange): TemplateChange {
  return { field, from: to, to: from };
}
