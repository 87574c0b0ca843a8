/**
 * Yields to the event loop. Long work awaits this between pieces: one waiter continues per round of the event loop, and
 * everything else that is ready runs in between.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) inNextTurn(giveTurn);
  });
}

const waiting: (() => void)[] = [];

/** Calls back in the next round of the event loop. */
type Turns = (callback: () => void) => void;

const ofEventLoop: Turns = (callback) => void setImmediate(callback);
let inNextTurn = ofEventLoop;

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) inNextTurn(giveTurn);
}

/**
 * Calls back at the end of this turn of the event loop, after everything that was ready has run. Lets requests that
 * arrived together be answered together, without delay.
 */
export function atEndOfTurn(callback: () => void): void {
  inNextTurn(callback);
}

/**
 * Replaces the rounds of the event loop for the whole process: a simulation decides itself when the next one comes.
 * @returns restores the event loop's own
 */
export function replaceTurns(turns: Turns): () => void {
  inNextTurn = turns;
  return () => (inNextTurn = ofEventLoop);
}
