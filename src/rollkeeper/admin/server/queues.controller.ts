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
} from '@nestjs/common';
import type { Request } from 'express';
import type {
  KeyView,
  WorkQueueCounts,
  WorkQueueInspector,
  WorkQueueTending,
  WorkQueueView,
} from '@rollkeeper/runtime/work-queue';
import { AdminPorts } from './admin-ports.js';
import { ClusterView } from './cluster-view.js';
import { parseCount, parseKeyText, parseName } from './request-parsing.js';
import { Shows } from './route-sight.js';

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
  ) {}

  @Get()
  @Shows('cluster')
  async list(): Promise<{ controller: string; counts: WorkQueueCounts }[]> {
    const queues = [...this.ports.queues()];
    return Promise.all(
      queues.map(async ([controller, queue]) => ({ controller, counts: await queue.counts() })),
    );
  }

  @Get(':controller')
  @Shows('keys')
  async show(@Param('controller') name: string, @Query('limit') limit: unknown): Promise<QueueAnswer> {
    const { controller, queue } = this.queueOf(name);
    const [counts, view, { replicas }] = await Promise.all([
      queue.counts(),
      queue.inspect(parseCount(limit, { fallback: 200, max: 1000 })),
      this.cluster.snapshot(),
    ]);
    const running = replicas.flatMap(({ identity, running: syncs }) =>
      syncs
        .filter((sync) => sync.controller === controller)
        .map(({ controller: _, ...sync }) => ({ ...sync, replica: identity })),
    );
    return { controller, counts, running, ...view };
  }

  @Get(':controller/key')
  async key(@Param('controller') name: string, @Query('key') key: unknown): Promise<KeyView> {
    return this.queueOf(name).queue.inspectKey(parseKeyText(key));
  }

  /** Runs as soon as a worker is free, regardless of delays. */
  @Post(':controller/requeue')
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
  @HttpCode(200)
  park(@Param('controller') name: string, @Body() body: KeyBody, @Req() request: Request): Promise<KeyView> {
    return this.change(name, body, request, 'parked', async (queue, key) => {
      await this.assertKnown(name, queue, key);
      await queue.purge(key);
      await queue.park(key, new Error(reasonOf(body)));
    });
  }

  @Post(':controller/unpark')
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
  @HttpCode(200)
  purge(@Param('controller') name: string, @Body() body: KeyBody, @Req() request: Request): Promise<KeyView> {
    return this.change(name, body, request, 'purged', async (queue, key) => {
      if (!(await queue.purge(key))) throw new NotFoundException({ error: `nothing is known of ${key}` });
    });
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
