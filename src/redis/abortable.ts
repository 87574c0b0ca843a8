/**
 * `command`, or a rejection with `signal.reason` as soon as `signal` aborts. The command itself cannot be taken
 * back: it may still happen. Needed because a client that is closed while it waits to reconnect leaves its commands
 * unanswered for ever (ioredis 6).
 */
export function abortable<T>(command: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return command;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    command.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
