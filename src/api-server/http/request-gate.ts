import type { Clock } from '../../base/clock/index.js';
import { tooManyRequests } from '../errors/index.js';
import type { ApiRequest } from './api-request.js';
import { InFlightLimit } from './in-flight-limit.js';
import type { CompiledServerLimits } from './server-limits.js';

/** The sorts of requests that are counted apart. */
export type RequestSort = 'mutating' | 'readOnly' | 'watch';

/** Lets so many requests of each sort in as the server takes at once, and its users by turns where there are more. */
export class RequestGate {
  private readonly limits: Readonly<Record<RequestSort, InFlightLimit>>;

  constructor(
    { maxReadsInFlight, maxWaitMs, maxWatches, maxWritesInFlight, waitingFactor }: CompiledServerLimits,
    clock: Pick<Clock, 'setTimeout'>,
  ) {
    const dependencies = { clock, refusal: tooManyRequests };
    const limit = (serving: number): InFlightLimit =>
      new InFlightLimit({ serving, waiting: serving * waitingFactor, waitMs: maxWaitMs }, dependencies);
    this.limits = {
      mutating: limit(maxWritesInFlight),
      readOnly: limit(maxReadsInFlight),
      // One ends after half an hour: nobody waits for that.
      watch: new InFlightLimit({ serving: maxWatches, waiting: 0 }, dependencies),
    };
  }

  /**
   * Resolves with what is to be called when the request has been answered. Rejects when the client has gone before.
   * @throws StatusError 429
   */
  enter(sort: RequestSort, request: Pick<ApiRequest, 'signal' | 'user'>): (() => void) | Promise<() => void> {
    return this.limits[sort].enter(request.user.username, () => request.signal);
  }
}
