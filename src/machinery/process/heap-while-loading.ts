import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let isLoading = false;

/**
 * Keeps V8's young generation at its first size while a program loads. What is loaded stays for good, and V8 takes it for a reason to
 * let that generation grow to its limit, where it then remains while nothing happens: 10 MiB of a process that is idle, for
 * 0.04 s of CPU at its start (docs/PERFORMANCE.md).
 */
export function keepHeapSmallWhileLoading(): void {
  isLoading = true;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * The program is loaded, and its work begins: the young generation grows with it, up to `--max-semi-space-size`, by V8's own factor. Only
 * the first call does anything.
 * @param growsByPercent how much the old generation may grow from one collection to the next; what loading has left behind is then
 *   collected first, 45 ms of CPU, which sets V8's limit by what is in use: before its first collection it lets the old generation grow
 *   beyond 100 MiB, whatever of it is garbage. @default as V8 has it: up to four times what is in use
 */
export function heapIsLoaded(growsByPercent?: number): void {
  if (!isLoading) return;
  isLoading = false;
  setFlagsFromString('--semi-space-growth-factor=2');
  if (growsByPercent === undefined) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
  setFlagsFromString(`--heap-growing-percent=${growsByPercent}`);
}
