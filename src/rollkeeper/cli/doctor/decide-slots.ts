import { counted } from '@rollkeeper/machinery/text';
import type { ClusterSnapshot } from '../../admin/server/index.js';
import type { Asked, Finding } from './finding.js';
import { failure, ok, orElse, warning } from './finding.js';

/** With fewer, each replica holds more than half of the objects. */
const WORTH_IT_FROM = 4;

/** Nothing where no replica that answers takes slots. Different numbers of slots are different options, which `replicas` reports. */
export function decideSlots(asked: Asked<ClusterSnapshot>): readonly Finding[] {
  if (asked.is !== 'answered') return [];
  const taking = asked.value.replicas.filter(({ reachable, slots }) => reachable && slots);
  const count = taking[0]?.slots?.count ?? 0;
  if (count === 0) return [];
  const unowned = Math.max(...taking.map(({ slots }) => slots?.unowned ?? 0));
  return orElse(
    [
      ...(unowned > 0
        ? [
            failure(
              'slots',
              `no replica works on ${unowned} of ${count} slots, so changes in their namespaces are not seen`,
              'check again in a minute: copies may be on their way; if it persists, see what the replicas cannot list (`/readyz?verbose`, docs/ALERTS.md)',
            ),
          ]
        : []),
      ...(taking.length < WORTH_IT_FROM
        ? [
            warning(
              'slots',
              `${counted(taking.length, 'replica')} share ${count} slots: each holds more than half of the objects`,
              'run at least four (chart: replicaCount), or no slots (docs/SCALE.md)',
            ),
          ]
        : []),
    ],
    ok('slots', `${counted(taking.length, 'replica')} share ${count} slots, and each slot has an owner`),
  );
}
