import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Inject, NotFoundException, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { clientOf, userOf } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { CallerClient } from './caller-client.js';
import { CallerSights } from './caller-sights.js';
import { isOfOneReplica, passOf } from './caller-pass.js';
import { ConsoleFeed } from './console-feed.js';
import { EventStreams } from './event-streams.js';
import { seeing } from './seen-answers.js';
import { Shows } from './route-sight.js';

const PUBLIC = join(import.meta.dirname, '..', 'console', 'public');
// Resolves to the build for Node; the one for browsers is a folder up.
const LIT = join(dirname(createRequire(import.meta.url).resolve('lit-html')), '..');
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The console's files by the name under which they are served; no other files can be requested. */
type ServedFile = readonly [path: string, type: string];

const FILES: ReadonlyMap<string, ServedFile> = new Map<string, ServedFile>([
  ...[
    'acts.js',
    'address.js',
    'bar.js',
    'cluster-news.js',
    'clusters.js',
    'console.js',
    'detail.js',
    'dialogs.js',
    'feed.js',
    'find.js',
    'releases.js',
    'findings.js',
    'notices.js',
    'nested-spans.js',
    'object.js',
    'objectives.js',
    'objects.js',
    'palette.js',
    'parts.js',
    'placement.js',
    'pod-log.js',
    'problems.js',
    'queues.js',
    'replicas.js',
    'rollout.js',
    'rollouts.js',
    'session.js',
    'spans-file.js',
    'timeline-at.js',
    'timeline.js',
    'trace-file.js',
    'trace.js',
  ].map((name) => [name, [join(PUBLIC, name), SCRIPT]] as const),
  ...[
    'bar.css',
    'base.css',
    'clusters.css',
    'detail.css',
    'dialogs.css',
    'narrow.css',
    'objectives.css',
    'objects.css',
    'pages.css',
    'palette.css',
    'problems.css',
    'rollouts.css',
    'steps.css',
    'timeline.css',
  ].map((name) => [name, [join(PUBLIC, name), STYLE]] as const),
  ['icon.svg', [join(PUBLIC, 'icon.svg'), 'image/svg+xml']],
  // The directive imports the others from the folder above it.
  ...['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'].map(
    (name) => [name, [join(LIT, name), SCRIPT]] as const,
  ),
]);

/** The address of the console, and ways to sign in beside links and tokens. */
export interface SignInWays {
  /** The address at which people reach it. Absent: unknown. */
  readonly consoleUrl?: string;
  /** An identity provider. */
  readonly oidc?: { readonly issuerUrl: string };
}

/** The console: a page, its files, and the events that keep it live. */
@Controller()
@Shows('cluster')
export class ConsoleController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ConsoleFeed) private readonly feed: ConsoleFeed,
    @Inject(EventStreams) private readonly streams: EventStreams,
    @Inject(CallerClient) private readonly callers: CallerClient,
    @Inject(CallerSights) private readonly sights: CallerSights,
  ) {}

  /** Redirects the short address to the console. */
  @Get()
  root(@Res() response: Response): void {
    response.redirect('/console');
  }

  /** How people can sign in. Public: the page shows it to users that have not signed in. */
  @Get('console/sign-in-ways')
  @Header('Cache-Control', 'no-store')
  signInWays(): SignInWays {
    const { consoleUrl, oidc } = this.ports;
    return {
      ...(consoleUrl !== undefined && { consoleUrl }),
      ...(oidc && { oidc: { issuerUrl: oidc.issuerUrl } }),
    };
  }

  /** `signed-in` is where an identity provider sends browsers back to. */
  @Get(['console', 'console/signed-in'])
  page(@Res() response: Response): void {
    sendFile(response, join(PUBLIC, 'index.html'), 'text/html; charset=utf-8');
  }

  @Get('console/:file')
  file(@Param('file') name: string, @Res() response: Response): void {
    sendNamed(response, name);
  }

  @Get('console/directives/:file')
  directive(@Param('file') name: string, @Res() response: Response): void {
    sendNamed(response, `directives/${name}`);
  }

  @Get('admin/events')
  @Shows('caller')
  async events(@Req() request: Request, @Res() response: Response): Promise<void> {
    const isUser = userOf(response) !== undefined;
    const sight = isUser ? this.sights.of(this.callers.of(request, response)) : undefined;
    const isOfOne = isOfOneReplica(request);
    const pass = passOf(request, response);
    const stream = this.streams.open(clientOf(response), response, isOfOne ? 'replica' : 'page');
    const viewer = sight ? seeing(stream, sight) : stream;
    try {
      await (isOfOne
        ? this.feed.serveReplica(viewer, stream.signal)
        : this.feed.serve(viewer, stream.signal, pass));
    } finally {
      stream.end();
    }
  }
}

/** @throws NotFoundException */
function sendNamed(response: Response, name: string): void {
  const file = FILES.get(name);
  if (!file) throw new NotFoundException({ error: 'no such file' });
  sendFile(response, ...file);
}

function sendFile(response: Response, path: string, type: string): void {
  response.status(200).setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  createReadStream(path)
    .on('error', () => (response.headersSent ? response.destroy() : response.status(404).end()))
    .pipe(response);
}
