import {
  BadRequestException,
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
import { z } from 'zod';
import { controlledBy } from '@rollkeeper/client/informer';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import { deploymentTypeOf, trustInNames, withoutSecrets } from '@rollkeeper/controllers/deployment';
import { parseDuration } from '@rollkeeper/machinery/clock';
import type { Deployment, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import type { Explanation } from '../../insight/explain/index.js';
import type {
  RevisionReport,
  RolloutRequest,
  RolloutTarget,
  RolloutTrack,
  Timeline,
} from '../../insight/rollout/index.js';
import {
  diffRevisions,
  findSetTarget,
  hasSomethingToRetry,
  prepareUndo,
  readWholeTimeline,
  requestOfRollout,
  rolloutHistory,
  rolloutTrack,
} from '../../insight/rollout/index.js';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { SetCaches } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import { AnsweredByOwner } from './answered-by-owner.js';
import { answered } from './api-answers.js';
import type { CallerApi } from './caller-client.js';
import { CallerClient, whoAsks } from './caller-client.js';
import { ExplainSource } from './explain-source.js';
import { deploymentCaches, findDeployment } from './find-deployment.js';
import { parseBody, parseName } from './request-parsing.js';
import { ACT_BODIES } from '../acts/act.js';
import { Shows } from './route-sight.js';
import { showsNamespace } from './slot-replicas.js';

/** The part of a rollout that the console shows beside its explanation. */
interface RolloutView {
  /** The position in its steps. Absent: it has none. */
  readonly track?: RolloutTrack;
  /** Newest first. */
  readonly history: readonly RevisionReport[];
  /** Whether a retry would roll out or measure something now. */
  readonly canRetry: boolean;
}

/**
 * The changes that would be made, or were. Without values that may be secret: a user who may read this page need not be
 * allowed to read the Deployment.
 */
interface Changes {
  readonly changes: readonly TemplateChange[];
}

const REQUEST = ACT_BODIES.plain.pick({ by: true });
const UNDO = z.strictObject({ ...ACT_BODIES.plain.shape, revision: z.int().positive().optional() });

/** The rollouts that look after themselves: their steps, their history, and what people say to them. */
@Controller('admin/rollouts/:namespace/:name')
@Shows('namespace')
export class RolloutsController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(CallerClient) private readonly callers: CallerClient,
    @Inject(ExplainSource) private readonly source: ExplainSource,
  ) {}

  /** Explains the state of a rollout of any kind. */
  @Get('explanation')
  @AnsweredByOwner()
  async explanation(
    @Param() { name, namespace }: Params,
    @Query() { api, kind }: OfKind,
  ): Promise<Explanation> {
    const set = kind === undefined ? undefined : this.setIn({ namespace, name }, kind);
    const explanation = set
      ? await this.source.explainSet(set.caches, set.key)
      : await this.explainedDeployment({ namespace, name, api });
    if (!explanation) throw new NotFoundException({ error: `no rollout of ${namespace}/${name}` });
    return explanation;
  }

  private explainedDeployment(named: Params & { readonly api: unknown }): Promise<Explanation | undefined> {
    const { caches, key } = findDeployment(this.ports, named);
    return this.source.explain(caches, key);
  }

  @Get()
  @AnsweredByOwner()
  async show(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query() { api, kind }: OfKind,
  ): Promise<RolloutView> {
    const { defaults, deployment, replicaSets } = this.cached({ namespace, name }, { api, kind });
    const { client } = this.ports;
    const names = client ? await answered(trustInNames(client)) : 'claimed';
    const namespaceAnnotations = defaults?.metadata.annotations;
    return {
      track: rolloutTrack(deployment, replicaSets, { names, namespaceAnnotations }),
      history: rolloutHistory(deployment, replicaSets, names).toReversed(),
      canRetry: hasSomethingToRetry(deployment),
    };
  }

  private cached(named: Params, { api, kind }: OfKind) {
    if (kind !== undefined) {
      const { caches, key } = this.setIn(named, kind);
      const rollout = this.source.setRollout(caches, key);
      if (!rollout) throw new NotFoundException({ error: `no rollout of ${key} is led by policies` });
      return { ...rollout, defaults: caches.namespaces?.lister.get(named.namespace) };
    }
    const { caches, deployment } = findDeployment(this.ports, { ...named, api });
    const replicaSets = controlledBy(caches.replicaSets.lister, deployment);
    const namespaces = caches.namespacePolicies ?? caches.namespaces;
    return { deployment, replicaSets, defaults: namespaces?.lister.get(named.namespace) };
  }

  /** @throws BadRequestException for another kind; NotFoundException if none of it is led here */
  private setIn(
    { name, namespace }: Params,
    kind: unknown,
  ): { readonly caches: SetCaches; readonly key: string } {
    const type = setTypeOf(kind);
    const caches = this.ports.sets?.().find((each) => each.kind === type.kind);
    if (!caches)
      throw new NotFoundException({ error: `no controller leads rollouts of a ${type.kind} here` });
    return { caches, key: `${parseName(namespace, 'namespace')}/${parseName(name, 'name')}` };
  }

  /** Answers the requests to a rollout, its ends and its sizes over time, with the rights of the caller. */
  @Get('timeline')
  async timeline(
    @Param() { name, namespace }: Params,
    @Query() { api, events, kind, since }: Readonly<Record<'api' | 'events' | 'kind' | 'since', unknown>>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Timeline> {
    const nowMs = this.ports.clock.now();
    const query = { withEvents: events !== 'false', sinceMs: parseSince(since, nowMs) };
    const caller = this.callers.of(request, response);
    const target = await this.target({ namespace, name }, { api, kind }, caller);
    const reader = caller.user === undefined ? 'This replica' : undefined;
    return answered(readWholeTimeline(target, { ...query, reader }));
  }

  /**
   * Answers the changes of going back to a revision: from what runs to what ran then; or the differences from another
   * one to it.
   */
  @Get('changes')
  async changes(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query() { api, from, kind, revision }: Readonly<Record<'api' | 'from' | 'kind' | 'revision', unknown>>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Changes> {
    const wanted = parseRevision(revision, 'revision');
    const before = from === undefined ? undefined : parseRevision(from, 'from');
    const caller = this.callers.of(request, response);
    const target = await this.target({ namespace, name }, { api, kind }, caller);
    if (before === undefined) {
      const changes = await answered(diffRevisions(target, wanted));
      return { changes: changes.map(withoutSecrets).map(reversed) };
    }
    return { changes: (await answered(diffRevisions(target, before, wanted))).map(withoutSecrets) };
  }

  @Post('promote')
  @HttpCode(200)
  promote(
    @Param() params: Params,
    @Body() body: unknown,
    @Query() { api, kind }: OfKind,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Done> {
    return this.ask('promote', params, { body, api, kind }, this.callers.of(request, response));
  }

  @Post('abort')
  @HttpCode(200)
  abort(
    @Param() params: Params,
    @Body() body: unknown,
    @Query() { api, kind }: OfKind,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Done> {
    return this.ask('abort', params, { body, api, kind }, this.callers.of(request, response));
  }

  @Post('retry')
  @HttpCode(200)
  retry(
    @Param() params: Params,
    @Body() body: unknown,
    @Query() { api, kind }: OfKind,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Done> {
    return this.ask('retry', params, { body, api, kind }, this.callers.of(request, response));
  }

  @Post('undo')
  @HttpCode(200)
  async undo(
    @Param() { name, namespace }: Params,
    @Body() body: unknown,
    @Query() { api, kind }: OfKind,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Changes> {
    const caller = this.callers.of(request, response);
    const { by: named, reason, revision = 0 } = parseBody(UNDO, body ?? {});
    const { name: by } = whoAsks(caller, named);
    const target = await this.target({ namespace, name }, { api, kind }, caller);
    const note = { by, reason: reason === '' ? undefined : reason };
    const undo = await answered(prepareUndo(target, BigInt(revision), note));
    await answered(undo.apply());
    this.ports.logger.info('a rollout was undone by hand', { namespace, name, revision, by });
    return { changes: undo.changes.map(withoutSecrets) };
  }

  private async ask(
    request: RolloutRequest,
    { name, namespace }: Params,
    { api, body, kind }: OfKind & { readonly body: unknown },
    caller: CallerApi,
  ): Promise<Done> {
    const { name: by } = whoAsks(caller, parseBody(REQUEST, body ?? {}).by);
    const target = await this.target({ namespace, name }, { api, kind }, caller);
    const said = await answered(requestOfRollout(target, request, by));
    this.ports.logger.info('a person spoke to a rollout', { namespace, name, request, by });
    return { said };
  }

  /** As it is in the API, not in the cache: people decide about what is there. With the rights of the caller. */
  private async target(
    { name, namespace }: Params,
    { api, kind }: OfKind,
    { client }: CallerApi,
  ): Promise<RolloutTarget> {
    const ref = { namespace: parseName(namespace, 'namespace'), name: parseName(name, 'name') };
    if (kind !== undefined)
      return { client, ...(await answered(findSetTarget(client, setTypeOf(kind), ref))) };
    for (const type of this.typesOf({ ...ref, api })) {
      const deployment = await answered(unlessGone(client.get<Deployment>(type, ref)));
      if (deployment) return { client, type, deployment };
    }
    throw new NotFoundException({ error: `no Deployment ${namespace}/${name}` });
  }

  /** The types that a Deployment of this name may have: where another replica keeps it, the caches do not say which. */
  private typesOf(named: { readonly namespace: string; readonly name: string; readonly api: unknown }) {
    if (showsNamespace(this.ports, named.namespace))
      return [deploymentTypeOf(findDeployment(this.ports, named).caches.apiVersion)];
    const known = deploymentCaches(this.ports).map(({ apiVersion }) => apiVersion);
    return known.filter((each) => named.api === undefined || named.api === each).map(deploymentTypeOf);
  }
}

/** `24h` ago, or a time. @throws BadRequestException */
function parseSince(since: unknown, nowMs: number): number | undefined {
  if (since === undefined || since === '') return undefined;
  const text = typeof since === 'string' ? since : '';
  const ago = parseDuration(text);
  const ms = ago === undefined ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(ms))
    throw new BadRequestException({ error: 'since must be a duration, such as 24h, or an RFC 3339 time' });
  return ms;
}

interface Params {
  readonly namespace: string;
  readonly name: string;
}

/** The kind of a rollout, in a query. */
type OfKind = Readonly<Record<'api' | 'kind', unknown>>;

/** @throws BadRequestException */
function setTypeOf(kind: unknown): ResourceType {
  const type = [StatefulSet, DaemonSet].find((each) => each.kind === kind);
  if (!type) throw new BadRequestException({ error: 'kind must be StatefulSet or DaemonSet' });
  return type;
}

interface Done {
  /** For people. */
  readonly said: string;
}

/** @throws BadRequestException */
function parseRevision(text: unknown, what: string): bigint {
  if (typeof text !== 'string' || !/^[1-9]\d{0,17}$/.test(text))
    throw new BadRequestException({ error: `${what} must be the number of a revision` });
  return BigInt(text);
}

function reversed({ field, from, to }: TemplateChange): TemplateChange {
  return { field, from: to, to: from };
}
