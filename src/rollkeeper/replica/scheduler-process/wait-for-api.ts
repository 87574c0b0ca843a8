import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';

/** How long to wait at startup for an API server that does not answer yet. */
const API_WAIT_MS = 30_000;
const API_RETRY_MS = 500;

/** @throws StartupError if the API does not answer in time; the signal's reason */
export async function waitForApi(client: ApiClient, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadlineMs = clock.monotonicNow() + API_WAIT_MS;
  for (;;) {
    try {
      await client.ping({ signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (clock.monotonicNow() >= deadlineMs) {
        const message = `the API server does not answer: ${errorMessage(error)}`;
        throw new StartupError(message, { cause: error });
      }
      await clock.sleep(API_RETRY_MS, signal);
    }
  }
}
