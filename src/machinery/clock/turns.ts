/**
 * Work that holds the one thread for a while takes turns: whoever awaits this goes on alone in a later round of the event
 * loop, one of them in each, and whatever else is ready comes in between.
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
 * Calls back once everything that was ready at the same time has been looked at: the end of this turn of the event loop.
 * Lets requests that came together be answered together, at no delay.
 */
export function atEndOfTurn(callback: () => void): void {
  setImmediate(callback);
}
