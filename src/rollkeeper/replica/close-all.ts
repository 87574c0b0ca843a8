import type { Logger } from '@rollkeeper/machinery/logging';

/** Waits for all of them. A failure is only logged: the other parts have to close as well. */
export async function closeAll(logger: Logger, closings: readonly Promise<unknown>[]): Promise<void> {
  for (const closing of await Promise.allSettled(closings)) {
    if (closing.status === 'rejected') logger.warn('a part did not close cleanly', { error: closing.reason });
  }
}
