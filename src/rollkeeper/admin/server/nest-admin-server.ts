import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Server } from 'node:https';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { ServedCertificate } from '@rollkeeper/tls';
import { guardAdminPages } from './access.middleware.js';
import type { ConnectionLimits } from './admin-http-adapter.js';
import { AdminHttpAdapter } from './admin-http-adapter.js';
import { AdminPorts } from './admin-ports.js';
import { BrowserSessions } from './browser-sessions.js';
import { CallerClient } from './caller-client.js';
import { CallerSights } from './caller-sights.js';
import { onlyForAllSeers } from './route-sight.js';
import { RollkeeperError, StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { writeIntegers } from '@rollkeeper/machinery/kubernetes';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { BullMqWorkQueue } from '@rollkeeper/redis';

const BULL_BOARD_PATH = '/admin/bull-board';

/**
 * BullMQ's own view of the queues, read only: keys are managed through the admin API, which knows parked keys and
 * timers. Loaded on the first visit, because most replicas are never visited.
 */
function bullBoard(queues: AdminPorts['queues']): RequestHandler {
  let board: Promise<RequestHandler> | undefined;
  return (request, response, next) => {
    ownPolicy(request, response, () => {
      board ??= build(queues);
      board.then(
        (handler) => void handler(request, response, next),
        (error: unknown) => {
          board = undefined;
          next(error);
        },
      );
    });
  };
}

async function build(queues: AdminPorts['queues']): Promise<RequestHandler> {
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/express'),
  ]);
  const own = [...queues().values()].filter((queue) => queue instanceof BullMqWorkQueue);
  const bullQueues = await Promise.all(own.map((queue) => queue.bullQueue()));
  const serverAdapter = new ExpressAdapter();
  serverAdapter.setBasePath(BULL_BOARD_PATH);
  createBullBoard({
    queues: bullQueues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
  });
  const router: unknown = serverAdapter.getRouter();
  return router as RequestHandler;
}

/** It uses inline styles, which our own policy forbids. Scripts are as restricted as ours. */
const ownPolicy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'self'"],
    frameAncestors: ["'none'"],
  },
});

/** A Nest application whose HTTP side is the admin port. */
export interface AdminServer {
  readonly url: string;
  /** The application's own service that its main function runs. */
  get<T>(service: Type<T>): T;
  /** Answers requests in progress, for half a second at most, and ends every connection. */
  close(): Promise<void>;
  /** The paths that are served. */
  routes(): readonly string[];
}

export interface AdminServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Whether it uses TLS, with the certificate of the module's AdminPorts. @default false */
  readonly tls?: boolean;
  readonly limits?: ConnectionLimits;
  /** The clock that bounds a stop. @default the system's */
  readonly clock?: Clock;
}

/**
 * Assembles `module` and serves its admin pages at once, before anything else of the process is up: probes must be
 * answered in the meantime.
 * @throws StartupError if the address cannot be bound, or what a provider threw
 */
export async function startAdminServer(
  module: DynamicModule,
  { clock, host, limits, port, tls = false }: AdminServerOptions,
): Promise<AdminServer> {
  const app: INestApplication<Server> = await NestFactory.create(
    module,
    new AdminHttpAdapter(tls, limits, clock),
    {
      logger: false,
      abortOnError: false,
    },
  );
  try {
    const ports = app.get(AdminPorts, { strict: false });
    // Answers may contain integers that `JSON.stringify` alone refuses.
    expressOf(app).set('json replacer', writeIntegers);
    if (tls) serveCertificate(app.getHttpServer(), ports);
    const browsers = app.get(BrowserSessions, { strict: false });
    for (const handler of guardAdminPages(ports, browsers)) app.use(handler);
    app.use(
      BULL_BOARD_PATH,
      onlyForAllSeers(app.get(CallerClient, { strict: false }), app.get(CallerSights, { strict: false })),
      bullBoard(() => ports.queues()),
    );
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw asStartupError(error, `cannot serve the admin pages on ${host}:${port}`);
  }
  return describe(app, await app.getUrl());
}

/** Uses the current certificate and each later one; existing connections continue with theirs. */
function serveCertificate(server: Server, { certificate, logger }: AdminPorts): void {
  if (!certificate) throw new StartupError('there is no certificate for the admin pages');
  const use = ({ current }: ServedCertificate): void => server.setSecureContext({ ...current });
  use(certificate);
  certificate.onChange((changed) => {
    try {
      use(changed);
    } catch (error) {
      logger.warn('the certificate cannot be served; the former one is kept', { error });
    }
  });
}

function describe(app: INestApplication, url: string): AdminServer {
  return {
    url,
    get: <T>(service: Type<T>): T => app.get(service, { strict: false }),
    close: () => app.close(),
    routes: () => routesOf(app),
  };
}

function asStartupError(error: unknown, what: string): Error {
  if (error instanceof RollkeeperError) return error;
  return new StartupError(`${what}: ${errorMessage(error)}`, { cause: error });
}

interface ExpressInstance {
  set(name: string, value: unknown): void;
  readonly router: { readonly stack: readonly { readonly route?: { readonly path: string | string[] } }[] };
}

function expressOf(app: INestApplication): ExpressInstance {
  return app.getHttpAdapter().getInstance() as ExpressInstance;
}

function routesOf(app: INestApplication): string[] {
  return expressOf(app).router.stack.flatMap(({ route }) => route?.path ?? []);
}
