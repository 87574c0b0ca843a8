import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  NotFoundException,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { shownName } from '@rollkeeper/controllers/deployment';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { Act, ActNote, ActVerb } from '../acts/act.js';
import type { ActChange } from '../acts/prepare-act.js';
import { ACT_BODIES, ACT_VERBS, typeOfAct } from '../acts/act.js';
import { noteAct } from '../acts/note-act.js';
import { prepareAct } from '../acts/prepare-act.js';
import { AdminPorts } from './admin-ports.js';
import { answered } from './api-answers.js';
import type { CallerApi } from './caller-client.js';
import { CallerClient, whoAsks } from './caller-client.js';
import { parseBody, parseName } from './request-parsing.js';
import { Shows } from './route-sight.js';

/** The change of an act, made or planned. */
interface ActAnswer {
  readonly changes: readonly ActChange[];
  /** For people. Absent: nothing was done, only looked at. */
  readonly said?: string;
  /** The steps beside the act itself that failed. */
  readonly notes: readonly string[];
}

interface Asked {
  readonly act: Act;
  readonly note: ActNote;
  /** The name of the caller, as people are shown it. */
  readonly shownBy: string;
}

/**
 * Acts of people on objects, with their own rights where the cluster knows them. With `dryRun=true` nothing is done, and
 * the answer says what would change.
 */
@Controller('admin/objects')
@Shows('caller')
export class ActsController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(CallerClient) private readonly callers: CallerClient,
  ) {}

  /** The caller, by the API's own word. The page learns from it whose name acts carry, and whether the user must give one. */
  @Get('caller')
  caller(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): { readonly user?: string } {
    const { user } = this.callers.of(request, response);
    return user === undefined ? {} : { user };
  }

  @Post(':resource/:namespace/:name/:verb')
  @HttpCode(200)
  namespaced(
    @Param() { name, namespace, resource, verb }: Record<'name' | 'namespace' | 'resource' | 'verb', string>,
    @Body() body: unknown,
    @Query('dryRun') dryRun: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ActAnswer> {
    const ref = { namespace: parseName(namespace, 'namespace'), name: parseName(name, 'name') };
    return this.act({ resource, verb, ref }, { body, dryRun }, this.callers.of(request, response));
  }

  @Post(':resource/:name/:verb')
  @HttpCode(200)
  ofCluster(
    @Param() { name, resource, verb }: Record<'name' | 'resource' | 'verb', string>,
    @Body() body: unknown,
    @Query('dryRun') dryRun: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ActAnswer> {
    const ref = { name: parseName(name, 'name') };
    return this.act({ resource, verb, ref }, { body, dryRun }, this.callers.of(request, response));
  }

  private async act(
    { ref, resource, verb }: { readonly resource: string; readonly verb: string; readonly ref: ObjectRef },
    { body, dryRun }: { readonly body: unknown; readonly dryRun: unknown },
    caller: CallerApi,
  ): Promise<ActAnswer> {
    const known = ACT_VERBS.find((each) => each === verb);
    if (!known)
      throw new NotFoundException({ error: `"${verb.slice(0, 100)}" is not one of ${ACT_VERBS.join(', ')}` });
    const type = typeFor(known, resource, ref);
    const { act, note, shownBy } = askedIn(known, body, caller);
    const { client, user } = caller;
    const { clock, identity, logger } = this.ports;
    const prepared = await answered(prepareAct({ client, type, ref, clock }, act, note));
    const { changes, object } = prepared;
    if (dryRun === 'true') return { changes, notes: [] };
    const said = await answered(prepared.apply());
    const { name, namespace } = object.metadata;
    logger.info('a person acted', { verb, kind: object.kind, namespace, name, ...note, user, said });
    const shown = { ...note, by: shownBy };
    const notes = await this.store({ object, verb: known, said, note: shown, component: identity });
    return { changes, said, notes };
  }

  /** The Event is the replica's to write: that a person has no right to create Events is no reason not to name them. */
  private async store(done: Parameters<typeof noteAct>[2]): Promise<readonly string[]> {
    const { client, clock, logger } = this.ports;
    if (!client) return [];
    try {
      await noteAct(client, clock, done);
      return [];
    } catch (error) {
      logger.warn('no Event tells of an act', { verb: done.verb, name: done.object.metadata.name, error });
      return [`no Event tells of it: ${errorMessage(error)}`];
    }
  }
}

/** @throws NotFoundException where the act is not for that type, or the path is that of another scope */
function typeFor(verb: ActVerb, resource: string, ref: ObjectRef): ResourceType {
  const type = typeOfAct(verb, resource);
  if (!type || type.namespaced !== (ref.namespace !== undefined))
    throw new NotFoundException({
      error: `${verb} is nothing that can be done to ${resource.slice(0, 100)}`,
    });
  return type;
}

/** @throws BadRequestException describing the problem in the body */
function askedIn(verb: ActVerb, body: unknown, caller: CallerApi): Asked {
  const { act, by, reason } = parsedAct(verb, body);
  const { name, trust } = whoAsks(caller, by);
  const note = { by: name, ...(reason !== undefined && reason !== '' && { reason }) };
  return { act, note, shownBy: shownName(name, trust) };
}

function parsedAct(
  verb: ActVerb,
  body: unknown,
): { readonly act: Act; readonly by: string | undefined; readonly reason: string | undefined } {
  if (verb === 'scale') {
    const { by, reason, replicas } = parseBody(ACT_BODIES.scale, body);
    return { act: { verb, replicas }, by, reason };
  }
  if (verb === 'set-image') {
    const { by, container, image, reason } = parseBody(ACT_BODIES['set-image'], body);
    return { act: { verb, image, ...(container !== undefined && { container }) }, by, reason };
  }
  const { by, reason } = parseBody(ACT_BODIES.plain, body ?? {});
  return { act: { verb }, by, reason };
}
