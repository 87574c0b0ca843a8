import type { TimerHandle } from '../clock/index.js';
import { setTimeout as delay } from 'node:timers/promises';
import { SystemClock } from '../clock/index.js';
import {
  ExpectedError,
  InvalidOptionError,
  ShutdownError,
  errorMessage,
  isCancellation,
} from '../errors/index.js';

/** What a process tells the supervisor that started it. */
export type ChildMessage =
  /** May come again, when something of it has changed. */
  | {
      readonly type: 'ready';
      readonly url?: string;
      readonly adminUrl?: string;
      readonly identity?: string;
      /** By which the admin pages are known, SHA-256; absent: they speak plain HTTP. */
      readonly certificates?: readonly string[];
      /** It has ended so long after a stop was asked for, milliseconds. */
      readonly stopsWithinMs?: number;
    }
  | { readonly type: 'failed'; readonly message: string };

/** Tells the supervisor, if there is one. */
export function tellParent(message: ChildMessage): void {
  if (process.connected) process.send?.(message);
}

/** What has nothing more to do ends by itself before this. */
const LEFT_BEHIND_MS = 500;

/**
 * Runs a command's work until it ends, or until SIGINT, SIGTERM or the death of the supervisor asks it to stop. A
 * failure of its own ends the process with exit code 1 (2 for wrong options) and one line for the person who started it.
 * @param work `endWithin` bounds its stop: so long after it was asked for, milliseconds, the process is ended, whatever it
 *   still does. Without that the work is waited for.
 */
export async function runUntilStopped(
  work: (signal: AbortSignal, endWithin: (graceMs: number) => void) => Promise<void>,
): Promise<void> {
  const stopper = new AbortController();
  let killer: TimerHandle | undefined;
  let graceMs: number | undefined;
  const boundStop = (): void => {
    const limitMs = graceMs;
    if (limitMs === undefined || !stopper.signal.aborted) return;
    killer ??= new SystemClock().setTimeout(() => giveUp(limitMs), limitMs);
  };
  const endWithin = (ms: number): void => {
    graceMs = ms;
    boundStop();
  };
  const stop = (why: string) => () => {
    stopper.abort(new ShutdownError(`stopped by ${why}`));
    boundStop();
  };
  const onInterrupt = stop('SIGINT');
  const onTerminate = stop('SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  const onDisconnect = stop('the end of its supervisor');
  process.once('disconnect', onDisconnect);
  try {
    await work(stopper.signal, endWithin);
  } catch (error) {
    if (!(stopper.signal.aborted && isCancellation(error))) failProcess(error);
  } finally {
    killer?.cancel();
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
    process.off('disconnect', onDisconnect);
    if (process.connected) process.disconnect();
    // A timer that a library has left behind (a client that reconnects for ever) must not keep a stopped process alive.
    if (stopper.signal.aborted) void endSoon();
  }
}

/** Ends a process that has nothing more to do, also where a library's timer or a connection that is never made would keep it alive. */
export async function endSoon(): Promise<void> {
  await delay(LEFT_BEHIND_MS, undefined, { ref: false });
  process.exit();
}

function giveUp(graceMs: number): never {
  process.stderr.write(
    `rollkeeper: not stopped within ${graceMs} ms; what was under way is left to others\n`,
  );
  process.exit(1);
}

/** Runs a command that ends by itself, and reports what it throws. */
export async function runOnce(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    failProcess(error);
  }
}

/** Of a command that was typed wrong: nothing has been tried. */
export const USAGE_EXIT_CODE = 2;

/** Reports a fatal error and sets the exit code, 2 for options that are wrong; expected kinds as one line, bugs with their stack. */
export function failProcess(error: unknown): void {
  const expected = error instanceof ExpectedError;
  const text = expected || !(error instanceof Error) ? errorMessage(error) : (error.stack ?? error.message);
  process.stderr.write(`rollkeeper: ${text}\n`);
  tellParent({ type: 'failed', message: errorMessage(error) });
  process.exitCode = error instanceof InvalidOptionError ? USAGE_EXIT_CODE : 1;
}
