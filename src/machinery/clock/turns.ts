/**
 * Yields to the event loop. Long work awaits this between pieces: one waiter continues per round of the event loop, and
 * everything else that is ready runs in between.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

const waiting: (() => void)[] = [];

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/**
 * Calls back at the end of this turn of the event loop, after everything that was ready has run. Lets requests that
 * arrived together be answered together, without delay.
 */
export function atEndOfTurn(callback: () => void): void {
  setImmediate(callback);
}
