import type { Clock } from '@rollkeeper/machinery/clock';
import { isMaster } from '../access/auth/index.js';
import { tooManyRequests } from '../schema/errors/index.js';
import type { ApiRequest } from './api-request.js';
import { flowOf } from './flow-of.js';
import { InFlightLimit } from './in-flight-limit.js';
import type { CompiledServerLimits } from './server-limits.js';

/** The sorts of requests that are counted apart. */
export type RequestSort = 'mutating' | 'readOnly' | 'watch';

type Limits = Readonly<Record<RequestSort, InFlightLimit>>;

/**
 * Limits the concurrent requests of each sort. Users take turns when there are more. Administrators are counted apart: they
 * come in while all other users together take all their places.
 */
export class RequestGate {
  private readonly limits: Limits;
  private readonly limitsOfMasters: Limits;

  constructor(
    { maxReadsInFlight, maxWaitMs, maxWatches, maxWritesInFlight, waitingFactor }: CompiledServerLimits,
    clock: Pick<Clock, 'setTimeout'>,
  ) {
    const dependencies = { clock, refusal: tooManyRequests };
    const limit = (serving: number): InFlightLimit =>
      new InFlightLimit({ serving, waiting: serving * waitingFactor, waitMs: maxWaitMs }, dependencies);
    const limits = (): Limits => ({
      mutating: limit(maxWritesInFlight),
      readOnly: limit(maxReadsInFlight),
      // One ends after half an hour, which is too long to wait for.
      watch: new InFlightLimit({ serving: maxWatches, waiting: 0 }, dependencies),
    });
    this.limits = limits();
    this.limitsOfMasters = limits();
  }

  /**
   * Resolves with a function to call when the request has been answered. Rejects when the client disconnects before.
   * @throws StatusError 429
   */
  enter(sort: RequestSort, request: Pick<ApiRequest, 'signal' | 'user'>): (() => void) | Promise<() => void> {
    const { user } = request;
    const limits = isMaster(user) ? this.limitsOfMasters : this.limits;
    return limits[sort].enter(flowOf(user), () => request.signal);
  }
}
