import {
  BadRequestException,
  Controller,
  Get,
  Inject,
  NotFoundException,
  Param,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { controlledBy } from '@rollkeeper/client/informer';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import { trustInNames, withoutSecrets } from '@rollkeeper/controllers/deployment';
import { parseDuration } from '@rollkeeper/machinery/clock';
import type { Explanation } from '../../insight/explain/index.js';
import type { RevisionReport, RolloutTrack, Timeline } from '../../insight/rollout/index.js';
import {
  diffRevisions,
  hasSomethingToRetry,
  readWholeTimeline,
  rolloutHistory,
  rolloutTrack,
} from '../../insight/rollout/index.js';
import type { SetCaches } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import { AnsweredByOwner } from './answered-by-owner.js';
import { answered } from './api-answers.js';
import { CallerClient } from './caller-client.js';
import { ExplainSource } from './explain-source.js';
import { findDeployment } from './find-deployment.js';
import { parseName } from './request-parsing.js';
import type { KindQuery, RolloutParams, RolloutChanges } from './rollout-target.js';
import { findRolloutTarget, setTypeOf } from './rollout-target.js';
import { EXPLANATION, ROLLOUT } from './peer-answers.js';
import { Shows } from './route-sight.js';

/** The part of a rollout that the console shows beside its explanation. */
interface RolloutView {
  /** The position in its steps. Absent: it has none. */
  readonly track?: RolloutTrack;
  /** Newest first. */
  readonly history: readonly RevisionReport[];
  /** Whether a retry would roll out or measure something now. */
  readonly canRetry: boolean;
}

/** Shows the rollouts that look after themselves: their state, their steps and their history. */
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
  @AnsweredByOwner(EXPLANATION)
  async explanation(
    @Param() { name, namespace }: RolloutParams,
    @Query() { api, kind }: KindQuery,
  ): Promise<Explanation> {
    const set = kind === undefined ? undefined : this.setIn({ namespace, name }, kind);
    const explanation = set
      ? await this.source.explainSet(set.caches, set.key)
      : await this.explainedDeployment({ namespace, name, api });
    if (!explanation) throw new NotFoundException({ error: `no rollout of ${namespace}/${name}` });
    return explanation;
  }

  private explainedDeployment(
    named: RolloutParams & { readonly api: unknown },
  ): Promise<Explanation | undefined> {
    const { caches, key } = findDeployment(this.ports, named);
    return this.source.explain(caches, key);
  }

  @Get()
  @AnsweredByOwner(ROLLOUT)
  async show(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query() { api, kind }: KindQuery,
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

  private cached(named: RolloutParams, { api, kind }: KindQuery) {
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
    { name, namespace }: RolloutParams,
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
    @Param() { name, namespace }: RolloutParams,
    @Query() { api, events, kind, since }: Readonly<Record<'api' | 'events' | 'kind' | 'since', unknown>>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Timeline> {
    const nowMs = this.ports.clock.now();
    const query = { withEvents: events !== 'false', sinceMs: parseSince(since, nowMs) };
    const caller = this.callers.of(request, response);
    const target = await findRolloutTarget(this.ports, { namespace, name, api, kind }, caller);
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
  ): Promise<RolloutChanges> {
    const wanted = parseRevision(revision, 'revision');
    const before = from === undefined ? undefined : parseRevision(from, 'from');
    const caller = this.callers.of(request, response);
    const target = await findRolloutTarget(this.ports, { namespace, name, api, kind }, caller);
    if (before === undefined) {
      const changes = await answered(diffRevisions(target, wanted));
      return { changes: changes.map(withoutSecrets).map(reversed) };
    }
    return { changes: (await answered(diffRevisions(target, before, wanted))).map(withoutSecrets) };
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

/** @throws BadRequestException */
function parseRevision(text: unknown, what: string): bigint {
  if (typeof text !== 'string' || !/^[1-9]\d{0,17}$/.test(text))
    throw new BadRequestException({ error: `${what} must be the number of a revision` });
  return BigInt(text);
}

function reversed({ field, from, to }: TemplateChange): TemplateChange {
  return { field, from: to, to: from };
}
