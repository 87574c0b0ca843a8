import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, HttpException, Inject, NotFoundException, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { stringifyJson } from '../kubernetes/index.js';
import type { ConsoleFeed, FeedEvent } from './console-feed.js';
import { CONSOLE_FEED } from './tokens.js';

const PUBLIC = join(import.meta.dirname, '..', 'console', 'public');
// Resolves to the build for Node; the one for browsers is a folder up.
const LIT = join(dirname(createRequire(import.meta.url).resolve('lit-html')), '..');

/** The console's files by the name under which they are served: nothing else can be asked for. */
type ServedFile = readonly [path: string, type: string];

const FILES: ReadonlyMap<string, ServedFile> = new Map<string, ServedFile>([
  ...[
    'console.js',
    'rollouts.js',
    'detail.js',
    'replicas.js',
    'queues.js',
    'feed.js',
    'parts.js',
    'trace.js',
  ].map((name) => [name, [join(PUBLIC, name), 'text/javascript; charset=utf-8']] as const),
  ['console.css', [join(PUBLIC, 'console.css'), 'text/css; charset=utf-8']],
  ['icon.svg', [join(PUBLIC, 'icon.svg'), 'image/svg+xml']],
  ['lit-html.js', [join(LIT, 'lit-html.js'), 'text/javascript; charset=utf-8']],
]);

/** Looking at the same time; more would only be tabs that somebody forgot. */
const MOST_VIEWERS = 50;
/** What a viewer that reads slowly may have waiting, bytes; beyond, it is sent off and comes back. */
const MOST_BUFFERED = 8 << 20;

/** The console: a page, its files, and the events that keep it live. */
@Controller()
export class ConsoleController {
  private viewers = 0;

  constructor(@Inject(CONSOLE_FEED) private readonly feed: ConsoleFeed) {}

  @Get('console')
  page(@Res() response: Response): void {
    sendFile(response, join(PUBLIC, 'index.html'), 'text/html; charset=utf-8');
  }

  @Get('console/:file')
  file(@Param('file') name: string, @Res() response: Response): void {
    const file = FILES.get(name);
    if (!file) throw new NotFoundException({ error: 'no such file' });
    sendFile(response, ...file);
  }

  @Get('admin/events')
  async events(@Req() request: Request, @Res() response: Response): Promise<void> {
    if (this.viewers >= MOST_VIEWERS) throw new HttpException({ error: 'too many viewers' }, 503);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const gone = new AbortController();
    request.once('close', () => gone.abort());
    const send = (event: FeedEvent): void => {
      if (response.writableLength > MOST_BUFFERED) return void response.destroy();
      response.write(`event: ${event.type}\ndata: ${stringifyJson(event)}\n\n`);
    };
    this.viewers++;
    try {
      await this.feed.serve(send, gone.signal);
    } finally {
      this.viewers--;
      response.end();
    }
  }
}

function sendFile(response: Response, path: string, type: string): void {
  response.status(200).setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  createReadStream(path)
    .on('error', () => (response.headersSent ? response.destroy() : response.status(404).end()))
    .pipe(response);
}
