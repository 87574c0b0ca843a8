import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@rollkeeper/machinery/clock';

/**
 * Ends a connection whose request has been answered before it was sent whole, unless its rest comes within a while: a
 * client that is cut off while it sends may never see the answer.
 */
export function endUnfinished(
  message: IncomingMessage,
  response: ServerResponse,
  { clock, lingerMs }: { readonly clock: Pick<Clock, 'setTimeout'>; readonly lingerMs: number },
): void {
  const { socket } = message;
  const wait = (): void => {
    if (message.complete || socket.destroyed) return;
    const timer = clock.setTimeout(() => socket.destroy(), lingerMs);
    const cancel = (): void => timer.cancel();
    message.once('end', cancel);
    socket.once('close', cancel);
  };
  if (response.writableFinished) wait();
  else response.once('finish', wait);
}
