import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let isLoading = false;

/**
 * Keeps V8's young generation at its initial size while a program loads. Loaded code is retained, which V8 takes as a
 * reason to grow that generation to its limit, and it stays there while the process is idle: 10 MiB, for 0.04 s of CPU
 * at startup (docs/PERFORMANCE.md).
 */
export function keepHeapSmallWhileLoading(): void {
  isLoading = true;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Call it when the program is loaded and its work begins: the young generation then grows as needed, up to
 * `--max-semi-space-size`, by V8's own factor. Only the first call has an effect.
 * @param growsByPercent how much the old generation may grow from one collection to the next. Garbage from loading is
 *   collected first (45 ms of CPU), which bases V8's limit on what is in use: before its first collection it lets the
 *   old generation grow beyond 100 MiB, garbage included. @default V8's own: up to four times what is in use
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
