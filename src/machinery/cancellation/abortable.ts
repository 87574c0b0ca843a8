/**
 * `work`, or a rejection with `signal.reason` as soon as `signal` aborts. The work itself continues and may still take
 * effect.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(reasonOf(signal)));
    work.then(resolve, reject).finally(stopListening);
  });
}

/** As {@link abortable}, but resolves when `signal` aborts; a later failure is ignored. */
export function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, resolve);
    work.then(() => resolve(), reject).finally(stopListening);
  });
}

/** The reason that `signal` was aborted with, as it is. Typed as an Error, which every abort gives as its reason. */
export function reasonOf(signal: AbortSignal): Error {
  return signal.reason as Error;
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
 * Calls `listener` once: when `signal` aborts, or immediately if it already has.
 * @returns removes the listener; otherwise a long-lived signal would keep it
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
