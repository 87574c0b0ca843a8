import { Controller, Get, Inject, Param, Query, Req, Res, UnauthorizedException } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiClient, LogOptions } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { clientOf, isSignedIn } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { CallerClient } from './caller-client.js';
import type { EventStream } from './event-streams.js';
import { EventStreams } from './event-streams.js';
import { parseCount, parseName } from './request-parsing.js';
import { Shows } from './route-sight.js';

const LINES_AT_FIRST = 500;
const MOST_LINES = 5000;
/** Lines are collected for this time, so that a chatty container is a few events a second. */
const FLUSH_MS = 150;
/** A silent container must not look like a dead connection. */
const SILENCE_MS = 3000;
const MOST_AT_ONCE = 500;

interface LogQuery {
  readonly container?: unknown;
  readonly follow?: unknown;
  readonly previous?: unknown;
  readonly lines?: unknown;
}

/** Logs of pods as server-sent events, with the rights of the caller; not for readers that have not signed in. */
@Controller('admin/objects/pods/:namespace/:name/log')
@Shows('caller')
export class PodLogController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(CallerClient) private readonly callers: CallerClient,
    @Inject(EventStreams) private readonly streams: EventStreams,
  ) {}

  @Get()
  async follow(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query() query: LogQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const pod = { namespace: parseName(namespace, 'namespace'), name: parseName(name, 'name') };
    const options = parsedQuery(query);
    if (!isSignedIn(response)) throw new UnauthorizedException({ error: 'logs need a token' });
    const { client } = this.callers.of(request, response);
    const stream = this.streams.open(clientOf(response), response);
    try {
      await sendLog(client, pod, options, stream, this.ports.clock);
    } finally {
      stream.end();
    }
  }
}

function parsedQuery({ container, follow, lines, previous }: LogQuery): LogOptions {
  return {
    ...(container !== undefined && { container: parseName(container, 'container') }),
    follow: follow === 'true',
    previous: previous === 'true',
    tailLines: parseCount(lines, { fallback: LINES_AT_FIRST, max: MOST_LINES }),
  };
}

/** Until the log ends, or the viewer has disconnected. */
async function sendLog(
  client: Pick<ApiClient, 'logs'>,
  pod: ObjectRef,
  options: LogOptions,
  stream: EventStream,
  clock: Clock,
): Promise<void> {
  const outgoing = new LineBuffer(stream, clock);
  try {
    for await (const line of client.logs(pod, { ...options, signal: stream.signal })) {
      if (stream.signal.aborted) return;
      outgoing.add(line);
      // Text that the viewer does not read is not asked for either.
      await stream.drained();
    }
    outgoing.flush();
    stream.send({ type: 'log-end' });
  } catch (error) {
    outgoing.flush();
    if (!stream.signal.aborted) stream.send({ type: 'log-end', problem: errorMessage(error) });
  } finally {
    outgoing.close();
  }
}

/** Sends lines together, and a sign of life where there are none. */
class LineBuffer {
  private lines: string[] = [];
  private timer: { cancel(): void } | undefined;

  constructor(
    private readonly stream: Pick<EventStream, 'send'>,
    private readonly clock: Pick<Clock, 'setTimeout'>,
  ) {
    this.flushIn(FLUSH_MS);
  }

  add(line: string): void {
    this.lines.push(line);
    if (this.lines.length >= MOST_AT_ONCE) this.flush();
    else if (this.lines.length === 1) this.flushIn(FLUSH_MS);
  }

  flush(): void {
    const lines = this.lines;
    this.lines = [];
    this.stream.send({ type: 'log', lines });
    this.flushIn(SILENCE_MS);
  }

  close(): void {
    this.timer?.cancel();
  }

  private flushIn(ms: number): void {
    this.timer?.cancel();
    this.timer = this.clock.setTimeout(() => this.flush(), ms);
  }
}
