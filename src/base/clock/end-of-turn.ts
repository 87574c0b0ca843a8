/**
 * Calls back once everything that was ready at the same time has been looked at: the end of this turn of the event loop.
 * Lets requests that came together be answered together, at no delay.
 */
export function atEndOfTurn(callback: () => void): void {
  setImmediate(callback);
}
