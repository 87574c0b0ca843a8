import { abortable, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { doublingDelayMs, pause, pauseUntilBeat } from '@rollkeeper/machinery/clock';
import { hasCode } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ActivationAdds } from './activations.js';
import type { LeaderTerm } from '../work-queue/index.js';

export interface BeginTermOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const FIRST_BACKOFF_MS = 20;
const LONGEST_BACKOFF_MS = 500;
/** A queue that has lost its keys is refilled after about this time. */
const CHECK_EVERY_MS = 2000;

/** The place at which a term has to begin before its work does. */
export interface TermTarget<Begun> {
  /** The name of a queue, for messages. */
  readonly name: string;
  beginTerm(term: LeaderTerm): Promise<Begun>;
}

/**
 * Begins a term in a queue, retrying while it cannot be reached. `undefined` once `signal` has aborted.
 * @throws SupersededError
 */
export async function beginTerm<Begun>(
  target: TermTarget<Begun>,
  term: LeaderTerm,
  { clock, logger, signal }: BeginTermOptions,
): Promise<Begun | undefined> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      // This wait ends with the leading work, because the next campaign waits for that.
      return await abortable(target.beginTerm(term), signal);
    } catch (error) {
      if (isAborted(signal)) break;
      if (hasCode(error, 'SUPERSEDED')) throw error;
      logger.warn('a term could not begin; trying again', { queue: target.name, epoch: term.epoch, error });
      const backoffMs = doublingDelayMs(failures, {
        firstMs: FIRST_BACKOFF_MS,
        longestMs: LONGEST_BACKOFF_MS,
      });
      await pause(clock, backoffMs, signal);
    }
  }
  return undefined;
}

/**
 * Checks now and then, until aborted, that a term still counts in its queue. A queue that has lost its keys is found by
 * that, and not only by the next add: timers may be all that it had.
 * @param adds refusals are reported by them, see {@link tellingOfRefusal}
 */
export async function keepChecking(
  adds: ActivationAdds,
  { clock, logger, signal }: BeginTermOptions,
): Promise<void> {
  while (!signal.aborted) {
    await pauseUntilBeat(clock, CHECK_EVERY_MS, signal);
    if (isAborted(signal)) return;
    try {
      await abortable(adds.check(), signal);
    } catch (error) {
      if (!isAborted(signal) && !hasCode(error, 'SUPERSEDED'))
        logger.debug('a queue could not be asked about its term', { error });
    }
  }
}

/** The same adds; each that is refused because of its term triggers the callback. */
export function tellingOfRefusal(adds: ActivationAdds, tell: (error: unknown) => void): ActivationAdds {
  const watched = async (adding: Promise<void>): Promise<void> => {
    try {
      await adding;
    } catch (error) {
      if (hasCode(error, 'SUPERSEDED')) tell(error);
      throw error;
    }
  };
  return {
    check: () => watched(adds.check()),
    add: (key, options) => watched(adds.add(key, options)),
    addWithCauses: (key, causes, options) => watched(adds.addWithCauses(key, causes, options)),
  };
}
