/**
 * `work`, or a rejection with `signal.reason` as soon as `signal` aborts. The work itself goes on: it cannot be taken back,
 * and what it does may still happen.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason as Error));
    work.then(resolve, reject).finally(stopListening);
  });
}

/** As {@link abortable}, but resolves when `signal` aborts; a failure that comes later is nobody's. */
export function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, resolve);
    work.then(() => resolve(), reject).finally(stopListening);
  });
}

/** Whether `signal` has aborted by now: the compiler takes a field that it has seen once for what stays, beyond every `await`. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, resolve));
}

/**
 * Calls `listener` once: when `signal` aborts, or at once where it has aborted already.
 * @returns what takes the listener off again; a signal that lives long keeps it otherwise
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const heard = (): void => listener();
  signal.addEventListener('abort', heard, { once: true });
  return () => signal.removeEventListener('abort', heard);
}
