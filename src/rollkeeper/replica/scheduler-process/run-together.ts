import type { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { ShutdownError, toError } from '@rollkeeper/machinery/errors';

/** Runs parts of one process side by side. Once one has ended, the others are stopped and awaited. @throws the first failure */
export async function runTogether(
  parts: readonly ((signal: AbortSignal) => Promise<void>)[],
  either: LinkedAbort,
): Promise<void> {
  const ended = parts.map(async (run) => {
    try {
      await run(either.signal);
    } finally {
      either.abort(new ShutdownError('a part of the process has ended'));
    }
  });
  const failed = (await Promise.allSettled(ended)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw toError(failed.reason);
}
