import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { BullMqWorkQueue } from '@rollkeeper/redis';
import type { AdminPorts } from './admin-ports.js';

export const BULL_BOARD_PATH = '/admin/bull-board';

/**
 * BullMQ's own view of the queues, read only: keys are handled through the admin API, which knows of parked keys and
 * timers. Loaded and put together on the first visit, because most replicas are never visited.
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

/** It styles elements one by one, which the policy of our own pages forbids. Scripts are no freer than ours. */
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
