import type { ClusterConnection, HttpApiClient } from '@rollkeeper/client/api-client';
import { ApiConnectionError } from '@rollkeeper/client/api-client';
import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, TimeoutError, errorMessage, hasCode } from '@rollkeeper/machinery/errors';

/**
 * How long a command waits for the first answer of a server, milliseconds. With the start of the program, an outage is reported within
 * three seconds. Later answers have the longer limits of the client: a list of a large cluster takes its time.
 */
export const FIRST_ANSWER_MS = 1800;
/** Nothing is worth a longer wait. */
const LONGEST_MS = 5000;

/**
 * {@link FIRST_ANSWER_MS} for a command on this machine, milliseconds: one that is so busy that it took long to start the program gets
 * an answer as late.
 * @param startTookMs from the start of the process to its first question
 */
export function patienceOf(startTookMs: number): number {
  const wholeMs = Math.round((2 * startTookMs) / 100) * 100;
  return Math.min(LONGEST_MS, Math.max(FIRST_ANSWER_MS, wholeMs));
}

/** A server that answers. */
export interface FirstAnswer {
  /** False: its `/readyz` fails or does not answer. */
  readonly isReady: boolean;
  /** Why it is not ready: `etcd`; empty if it is. */
  readonly why: string;
}

export interface FirstAnswerOptions {
  readonly client: Pick<HttpApiClient, 'readiness' | 'serverInfo'>;
  readonly connection: Pick<ClusterConnection, 'credentials' | 'serverUrl'>;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Milliseconds. @default FIRST_ANSWER_MS */
  readonly withinMs?: number;
}

/**
 * Whether an API server answers, and whether it is ready. Both questions are asked at once, because a server whose store hangs
 * may answer one of them only.
 * @throws StartupError that names the server, and says why there is no answer
 */
export async function firstAnswer(options: FirstAnswerOptions): Promise<FirstAnswer> {
  const { client, clock, connection, withinMs = FIRST_ANSWER_MS } = options;
  // A person may have to sign in for them, which takes longer.
  await connection.credentials.headers();
  const limit = new LinkedAbort(...(options.signal ? [options.signal] : []));
  const { signal } = limit;
  const silence = new TimeoutError(`nothing came for ${withinMs / 1000} s`);
  const timer = clock.setTimeout(() => limit.abort(silence), withinMs);
  try {
    // A request whose connection is still being made notices no abort.
    const [readiness, version] = await Promise.allSettled([
      abortable(client.readiness({ signal }), signal),
      abortable(client.serverInfo({ signal }), signal),
    ]);
    if (readiness.status === 'fulfilled') return readinessOf(readiness.value);
    options.signal?.throwIfAborted();
    if (version.status === 'fulfilled' || !isSilence(version.reason))
      return { isReady: false, why: `its /readyz does not answer: ${errorMessage(readiness.reason)}` };
    throw new StartupError(
      `the API server at ${connection.serverUrl} does not answer: ${errorMessage(version.reason)}; rollkeeper doctor shows what does`,
      { cause: version.reason },
    );
  } finally {
    timer.cancel();
    limit.close();
  }
}

/** Users may be forbidden to see `/readyz`, and a server without it may be ready. */
function readinessOf({ failing, status }: Awaited<ReturnType<HttpApiClient['readiness']>>): FirstAnswer {
  if (status < 500) return { isReady: true, why: '' };
  const why = failing.length > 0 ? failing.join(', ') : `its /readyz answers ${status}`;
  return { isReady: false, why };
}

/** Whether an error of a request means that there was no answer to it. */
export function isSilence(error: unknown): boolean {
  return error instanceof ApiConnectionError || hasCode(error, 'TIMEOUT');
}
