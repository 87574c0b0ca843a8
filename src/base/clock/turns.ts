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
