import type { Dispatcher } from 'undici';

/** Nothing was sent, because `reason` was thrown when it was about to be. */
export class NotStartedError extends Error {
  constructor(readonly reason: unknown) {
    super('the request was not started', { cause: reason });
    this.name = 'NotStartedError';
  }
}

/** Options of a request that may lose its right to go out. */
export interface MayStart {
  /** Throws when it has lost it. */
  readonly mayStart?: () => void;
}

/**
 * Asks `mayStart` of a request's options right before its first byte goes out: a request may have waited for a connection,
 * and the process may have stood still meanwhile, so that being asked when it was made says nothing. One that must not
 * start rejects with {@link NotStartedError}; its connection serves the next.
 */
export const askBeforeStart: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { mayStart } = options as MayStart;
  if (mayStart) {
    const start = handler.onRequestStart?.bind(handler);
    // undici makes a handler for each request. What this throws fails the request before anything is written.
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
