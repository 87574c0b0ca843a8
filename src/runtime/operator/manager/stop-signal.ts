import { ShutdownError } from '@rollkeeper/machinery/errors';

/**
 * Aborts when the process is asked to stop, by SIGINT or SIGTERM, for `manager.run(stopSignal())`. A second signal ends
 * the process immediately, and unfinished work is left to the other replicas.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort(new ShutdownError(`stopped by ${name}`));
    });
  return stop.signal;
}
