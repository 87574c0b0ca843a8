import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { DueCheck } from './check-needs.js';
import type { CheckMeter, CheckOutcome, MeasureContext } from './measure-checks.js';
import { measureChecks } from './measure-checks.js';

/** Soon enough that the wait shows in no rollout, and seldom enough that it costs nothing. */
const NO_ROOM_MS = 500;

/**
 * Limits the number of Deployments that it measures at once, so that the others always have workers left, even if answers are
 * slow.
 */
export class CheckMeasuring {
  private readonly most: number;
  private busy = 0;

  constructor(
    private readonly meter: CheckMeter,
    workers: number,
  ) {
    this.most = Math.max(1, Math.floor(workers / 2));
  }

  async measure(
    dues: readonly DueCheck[],
    replicaSet: DeepReadonly<ReplicaSet>,
    context: MeasureContext,
  ): Promise<CheckOutcome> {
    if (this.busy >= this.most) return { lookAgainAfterMs: NO_ROOM_MS };
    this.busy += 1;
    try {
      return await measureChecks(dues, replicaSet, this.meter, context);
    } finally {
      this.busy -= 1;
    }
  }
}
