import type { Meter } from '@opentelemetry/api';
import { METRICS } from './metric-names.js';

/** The slots of a replica, as they are when they are asked for. */
interface ObservedSlots {
  readonly held: { readonly begun: ReadonlySet<number> };
  readonly keeper: { readonly standbyCount: number };
  readonly leader: { readonly unowned: number | undefined; readonly lateReplicas: number | undefined };
}

/** Metrics of slots, for installations that have them; the leader alone reports how many are not served. */
export function observeSlots(meter: Meter, { held, keeper, leader }: ObservedSlots): void {
  meter
    .createObservableGauge(METRICS.slots, {
      description:
        'Slots of this replica: on whose keys it works (owner), and which it keeps current for others (standby)',
    })
    .addCallback((result) => {
      result.observe(held.begun.size, { role: 'owner' });
      result.observe(keeper.standbyCount, { role: 'standby' });
    });
  meter
    .createObservableGauge(METRICS.unownedSlots, {
      description: 'Slots that no replica works on, on the leader only',
    })
    .addCallback((result) => {
      const { unowned } = leader;
      if (unowned !== undefined) result.observe(unowned);
    });
  meter
    .createObservableGauge(METRICS.lateSlotReplicas, {
      description:
        'Replicas that get no slots because their copies do not become current, on the leader only',
    })
    .addCallback((result) => {
      const { lateReplicas } = leader;
      if (lateReplicas !== undefined) result.observe(lateReplicas);
    });
}
