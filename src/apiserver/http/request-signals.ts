import type { ServerResponse } from 'node:http';

/**
 * Signals of the requests under way. Most requests never ask for theirs, so that it is made only then.
 */
export class RequestSignals {
  private readonly open = new Set<AbortController>();
  private stopped = false;

  /** A signal that aborts when the response is closed or the server stops. */
  of(response: ServerResponse): AbortSignal {
    const controller = new AbortController();
    if (this.stopped || response.destroyed) controller.abort();
    this.open.add(controller);
    response.once('close', () => {
      this.open.delete(controller);
      controller.abort();
    });
    return controller.signal;
  }

  stop(): void {
    this.stopped = true;
    for (const controller of this.open) controller.abort();
  }
}
