import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { NamespaceSlots } from '../common/namespace-slots.js';
import type { DueCheck } from './check-needs.js';
import type { CheckMeter, CheckOutcome, MeasureContext } from './measure-checks.js';
import { measureChecks } from './measure-checks.js';

/** Soon enough that the first wait shows in no rollout, milliseconds. */
const NO_ROOM_MS = 500;

/**
 * Limits the number of rollouts or experiments that it measures at once, so that the others always have workers left, even if answers are
 * slow; and of these the number of one namespace, so that slow answers to one tenant do not keep the checks of others waiting. There is
 * more than one place in all from four workers on.
 */
export class CheckMeasuring {
  private readonly slots: NamespaceSlots;

  /** @param workers of the controller: half of them measure, and a quarter for one namespace */
  constructor(
    private readonly meter: CheckMeter,
    workers: number,
  ) {
    const inAll = Math.max(1, Math.floor(workers / 2));
    this.slots = new NamespaceSlots({
      ...{ inAll, firstWaitMs: NO_ROOM_MS },
      ofNamespace: Math.max(1, Math.floor(inAll / 2)),
    });
  }

  async measure(
    dues: readonly DueCheck[],
    replicaSet: DeepReadonly<ReplicaSet>,
    context: MeasureContext,
  ): Promise<CheckOutcome> {
    const { namespace = '' } = replicaSet.metadata;
    const lookAgainAfterMs = this.slots.waitOf(keyOf(replicaSet.metadata), namespace);
    if (lookAgainAfterMs !== undefined) return { lookAgainAfterMs };
    const outcome = await this.slots.run(namespace, () =>
      measureChecks(dues, replicaSet, this.meter, context),
    );
    return outcome ?? { lookAgainAfterMs: NO_ROOM_MS };
  }
}
