import type { Dispatcher } from 'undici';

/** Nothing was sent: `mayStart` threw `reason` just before. */
export class NotStartedError extends Error {
  constructor(readonly reason: unknown) {
    super('the request was not started', { cause: reason });
    this.name = 'NotStartedError';
  }
}

/** Options of a request that may lose its right to be sent. */
export interface MayStart {
  /** Throws if the right is lost. */
  readonly mayStart?: () => void;
}

/**
 * Calls `mayStart` of a request's options right before the first byte is sent. A request may have waited for a
 * connection, and the process may have been suspended in the meantime, so a check at creation is not enough. A request
 * that must not start rejects with {@link NotStartedError}; its connection is reused.
 */
export const askBeforeStart: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { mayStart }: typeof options & MayStart = options;
  if (mayStart) {
    const start = handler.onRequestStart?.bind(handler);
    // undici makes a handler for each request. If this throws, the request fails before anything is written.
    handler.onRequestStart = (controller, context) => {
      ask(mayStart);
      start?.(controller, context);
    };
  }
  return dispatch(options, handler);
};

function ask(mayStart: () => void): void {
  try {
    mayStart();
  } catch (reason) {
    throw new NotStartedError(reason);
  }
}
