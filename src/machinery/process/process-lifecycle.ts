import { onAbort } from '../cancellation/index.js';
import type { TimerHandle } from '../clock/index.js';
import { setTimeout as delay } from 'node:timers/promises';
import { SystemClock } from '../clock/index.js';
import {
  ExpectedError,
  InvalidOptionError,
  ShutdownError,
  errorMessage,
  errorCode,
  isCancellation,
} from '../errors/index.js';
import { printError } from './terminal-text.js';

/** Messages from a process to its supervisor. */
export type ChildMessage =
  /** Sent again when it changes. */
  | {
      readonly type: 'ready';
      readonly url?: string;
      readonly adminUrl?: string;
      readonly identity?: string;
      /** SHA-256 fingerprints of the admin pages' certificates; absent: plain HTTP. */
      readonly certificates?: readonly string[];
      /** Upper bound on the shutdown, milliseconds. */
      readonly stopsWithinMs?: number;
    }
  | { readonly type: 'failed'; readonly message: string };

/** Sends a message to the supervisor, if there is one. */
export function tellParent(message: ChildMessage): void {
  if (process.connected) process.send?.(message);
}

/** Nothing reads the output any more: `rollkeeper top | head -1`. */
class OutputClosedError extends ShutdownError {}

/** Exit code of a command that was stopped because its output is not read any more: that of a shell for SIGPIPE. */
export const OUTPUT_CLOSED_EXIT_CODE = 141;

/** Aborts once nothing reads the output of this process any more. */
const output = new AbortController();

/** Whether work ended because nothing reads the output any more, which is no failure to report. */
export function isOutputClosed(signal: AbortSignal): boolean {
  return signal.reason instanceof OutputClosedError;
}

/**
 * Lets the reader of the output leave, as `head` does: what is written from then on is dropped. A command that only runs until it
 * is stopped is stopped; another one finishes, because a change may not end in the middle. Node would end the process with
 * a stack trace.
 */
export function expectReaderToLeave(
  streams: readonly Pick<NodeJS.EventEmitter, 'on'>[] = [process.stdout, process.stderr],
): void {
  const onError = (error: unknown): void => {
    if (!CLOSED.has(errorCode(error))) throw error;
    output.abort(new OutputClosedError('nothing reads the output any more'));
  };
  for (const stream of streams) stream.on('error', onError);
}

/** The errors of the first write without a reader, and of those that follow. */
const CLOSED: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** A process with nothing left to do exits by itself before this. */
const LEFT_BEHIND_MS = 500;

/**
 * Runs a command's work until it ends, or until SIGINT, SIGTERM or the death of the supervisor stops it. A failure of
 * the work ends the process with exit code 1 (2 for invalid options) and one line for the user.
 * @param work may call `endWithin` to bound its shutdown: this many milliseconds after a stop was requested, the
 *   process exits, even if work is left. Otherwise the work is awaited.
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
  const stopListening = onAbort(output.signal, () => {
    stopper.abort(output.signal.reason);
    boundStop();
  });
  const onDisconnect = stop('the end of its supervisor');
  process.once('disconnect', onDisconnect);
  try {
    await work(stopper.signal, endWithin);
  } catch (error) {
    if (!(stopper.signal.aborted && isCancellation(error))) failProcess(error);
  } finally {
    killer?.cancel();
    stopListening();
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
    process.off('disconnect', onDisconnect);
    if (isOutputClosed(stopper.signal)) process.exitCode ??= OUTPUT_CLOSED_EXIT_CODE;
    if (process.connected) process.disconnect();
    // A timer that a library left behind (a client that reconnects forever) must not keep a stopped process alive.
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
    `rollkeeper: not stopped within ${graceMs} ms; unfinished work is left to other replicas\n`,
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

/** For invalid command-line usage: nothing was attempted. */
export const USAGE_EXIT_CODE = 2;

/**
 * Reports a fatal error and sets the exit code, 2 for invalid options; expected errors as one line, bugs with their
 * stack.
 */
export function failProcess(error: unknown): void {
  const expected = error instanceof ExpectedError;
  const text = expected || !(error instanceof Error) ? errorMessage(error) : (error.stack ?? error.message);
  printError(`rollkeeper: ${text}`);
  tellParent({ type: 'failed', message: errorMessage(error) });
  process.exitCode = error instanceof InvalidOptionError ? USAGE_EXIT_CODE : 1;
}
