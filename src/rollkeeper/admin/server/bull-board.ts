import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { BullMqWorkQueue } from '@rollkeeper/redis';
import type { AdminPorts } from './admin-ports.js';

export const BULL_BOARD_PATH = '/admin/bull-board';

/**
 * BullMQ's own view of the queues, read only: keys are managed through the admin API, which knows parked keys and
 * timers. Loaded on the first visit, because most replicas are never visited.
 */
export function bullBoard(queues: AdminPorts['queues']): RequestHandler {
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
