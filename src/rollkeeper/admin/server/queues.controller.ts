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
import type {
  KeyView,
  WorkQueueCounts,
  WorkQueueInspector,
  WorkQueueTending,
  WorkQueueView,
} from '@rollkeeper/runtime/work-queue';
import { AdminPorts } from './admin-ports.js';
import { AnsweredByOwner } from './answered-by-owner.js';
import { isOfOneReplica, passOf } from './caller-pass.js';
import { ClusterView } from './cluster-view.js';
import type { AnswerForm } from './peer-answers.js';
import { KEY, QUEUE, QUEUE_LIST, addedCounts } from './peer-answers.js';
import { parseCount, parseKeyText, parseName } from './request-parsing.js';
import { Shows } from './route-sight.js';
import { SlotReplicas, warnOfMissing } from './slot-replicas.js';

/** A key being processed by a replica. */
interface RunningKey {
  readonly key: string;
  readonly replica: string;
  readonly sinceMs: number;
  /** When it exceeded its time limit and was cancelled, epoch milliseconds. */
  readonly overdueSinceMs?: number;
}

export interface QueueAnswer extends WorkQueueView {
  readonly controller: string;
  readonly counts: WorkQueueCounts;
  readonly running: readonly RunningKey[];
}

interface QueueCounts {
  readonly controller: string;
  readonly counts: WorkQueueCounts;
}

type AdminQueue = WorkQueueInspector & WorkQueueTending;

interface KeyBody {
  readonly key?: unknown;
  readonly reason?: unknown;
}

/** The keys of every queue, and operations on them. */
@Controller('admin/queues')
@Shows('key')
export class QueuesController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ClusterView) private readonly cluster: ClusterView,
    @Inject(SlotReplicas) private readonly replicas: SlotReplicas,
  ) {}

  @Get()
  @Shows('cluster')
  async list(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<readonly QueueCounts[]> {
    const queues = [...this.ports.queues()];
    const own = await Promise.all(
      queues.map(async ([controller, queue]) => ({ controller, counts: await queue.counts() })),
    );
    const others = await this.ofOthers<readonly QueueCounts[]>('/admin/queues', QUEUE_LIST, {
      request,
      response,
    });
    return own.map((queue) => withCountsOf(queue, this.isSpread(queue.controller) ? others.flat() : []));
  }

  @Get(':controller')
  @Shows('keys')
  async show(
    @Param('controller') name: string,
    @Query('limit') limit: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QueueAnswer> {
    const { controller, queue } = this.queueOf(name);
    const most = parseCount(limit, { fallback: 200, max: 1000 });
    const path = `/admin/queues/${controller}?limit=${most}`;
    const [counts, view, running, others] = await Promise.all([
      queue.counts(),
      queue.inspect(most),
      isOfOneReplica(request) ? [] : this.running(controller),
      this.isSpread(controller) ? this.ofOthers<QueueAnswer>(path, QUEUE, { request, response }) : [],
    ]);
    const all = [view, ...others];
    return {
      ...{ ...withCountsOf({ controller, counts }, others), running },
      waiting: merged(
        all.map(({ waiting }) => waiting),
        ({ sinceMs }) => sinceMs,
        most,
      ),
      delayed: merged(
        all.map(({ delayed }) => delayed),
        ({ dueMs }) => dueMs,
        most,
      ),
      parked: merged(
        all.map(({ parked }) => parked),
        ({ parkedAtMs }) => parkedAtMs,
        most,
      ),
    };
  }

  @Get(':controller/key')
  @AnsweredByOwner(KEY)
  async key(@Param('controller') name: string, @Query('key') key: unknown): Promise<KeyView> {
    return this.queueOf(name).queue.inspectKey(parseKeyText(key));
  }

  /** Runs as soon as a worker is free, regardless of delays. */
  @Post(':controller/requeue')
  @AnsweredByOwner(KEY)
  @HttpCode(200)
  requeue(
    @Param('controller') name: string,
    @Body() body: KeyBody,
    @Req() request: Request,
  ): Promise<KeyView> {
    return this.change(name, body, request, 'requeued', async (queue, key) => {
      await this.assertKnown(name, queue, key);
      await queue.add(key, { priority: 'high', reason: 'requeue' });
    });
  }

  /** Not processed until its object changes or it is unparked. */
  @Post(':controller/park')
  @AnsweredByOwner(KEY)
  @HttpCode(200)
  park(@Param('controller') name: string, @Body() body: KeyBody, @Req() request: Request): Promise<KeyView> {
    return this.change(name, body, request, 'parked', async (queue, key) => {
      await this.assertKnown(name, queue, key);
      await queue.purge(key);
      await queue.park(key, new Error(reasonOf(body)));
    });
  }

  @Post(':controller/unpark')
  @AnsweredByOwner(KEY)
  @HttpCode(200)
  unpark(
    @Param('controller') name: string,
    @Body() body: KeyBody,
    @Req() request: Request,
  ): Promise<KeyView> {
    return this.change(name, body, request, 'unparked', async (queue, key) => {
      const { parked } = await queue.inspectKey(key);
      if (!parked) throw new NotFoundException({ error: `${key} is not parked` });
      await queue.add(key, { priority: 'high', reason: 'requeue' });
    });
  }

  /** Drops all its state until its object changes. */
  @Post(':controller/purge')
  @AnsweredByOwner(KEY)
  @HttpCode(200)
  purge(@Param('controller') name: string, @Body() body: KeyBody, @Req() request: Request): Promise<KeyView> {
    return this.change(name, body, request, 'purged', async (queue, key) => {
      if (!(await queue.purge(key))) throw new NotFoundException({ error: `nothing is known of ${key}` });
    });
  }

  private async running(controller: string): Promise<readonly RunningKey[]> {
    const { replicas } = await this.cluster.snapshot();
    return replicas.flatMap(({ identity, running: syncs }) =>
      syncs
        .filter((sync) => sync.controller === controller)
        .map(({ controller: _, ...sync }) => ({ ...sync, replica: identity })),
    );
  }

  private isSpread(controller: string): boolean {
    return this.ports.slots?.()?.spreads(controller) ?? false;
  }

  /** The parts of an answer that the other owners of slots have; none without slots. */
  private async ofOthers<T>(
    path: string,
    form: AnswerForm,
    { request, response }: { readonly request: Request; readonly response: Response },
  ): Promise<readonly T[]> {
    if (!this.ports.slots?.() || isOfOneReplica(request)) return [];
    const asked = await this.replicas.askAll<T>(path, form, passOf(request, response));
    warnOfMissing(response, asked);
    return asked.answers.map(({ answer }) => answer);
  }

  private async change(
    name: string,
    body: KeyBody | undefined,
    request: Request,
    what: string,
    act: (queue: AdminQueue, key: string) => Promise<void>,
  ): Promise<KeyView> {
    const { controller, queue } = this.queueOf(name);
    const key = parseKeyText(body?.key);
    await act(queue, key);
    this.ports.logger.info(`a key was ${what} by hand`, {
      controller,
      key,
      from: request.socket.remoteAddress,
    });
    return queue.inspectKey(key);
  }

  /** A key unknown to the caches and the queue is a typing error: a sync of it would silently do nothing. */
  private async assertKnown(controller: string, queue: AdminQueue, key: string): Promise<void> {
    if (this.ports.hasObject(controller, key) !== false) return;
    const { delayed, failures, hasJob, parked, waiting } = await queue.inspectKey(key);
    if (hasJob || failures > 0 || (delayed ?? parked ?? waiting)) return;
    throw new NotFoundException({
      error: `${controller} has no object ${key}, and its queue does not know it`,
    });
  }

  private queueOf(name: string): { controller: string; queue: AdminQueue } {
    const controller = parseName(name, 'controller');
    const queue = this.ports.queues().get(controller);
    if (!queue) throw new NotFoundException({ error: `no controller named ${controller} runs here` });
    return { controller, queue };
  }
}

function reasonOf({ reason }: KeyBody): string {
  return typeof reason === 'string' && reason !== ''
    ? `parked by hand: ${reason.slice(0, 500)}`
    : 'parked by hand';
}

/** A queue that other replicas have a part of. */
function withCountsOf({ controller, counts }: QueueCounts, others: readonly QueueCounts[]): QueueCounts {
  const parts = others.flatMap((other) => (other.controller === controller ? [other.counts] : []));
  return { controller, counts: addedCounts([counts, ...parts]) };
}

/** The first keys of several lists, by their times. A single list keeps its order. */
function merged<T>(lists: readonly (readonly T[])[], timeOf: (key: T) => number, most: number): readonly T[] {
  const [only = []] = lists;
  return lists.length < 2
    ? only
    : lists
        .flat()
        .sort((a, b) => timeOf(a) - timeOf(b))
        .slice(0, most);
}
