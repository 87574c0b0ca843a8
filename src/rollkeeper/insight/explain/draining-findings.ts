import { counted } from '@rollkeeper/machinery/text';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { readDraining, renderDrainCondition } from '@rollkeeper/controllers/shared';
import type { ExplainInput } from './explain-input.js';
import type { Finding } from './explanation.js';

/** Pods of old versions that stay until they are empty: no rollout waits for them. */
export function drainingFindings({ draining = [] }: Pick<ExplainInput, 'draining'>): Finding[] {
  const pods = draining.flatMap((pod) => {
    const drains = pod.metadata.deletionTimestamp === undefined ? readDraining(pod) : undefined;
    return drains ? [{ name: pod.metadata.name, drains }] : [];
  });
  const [first] = pods;
  if (!first) return [];
  const versions = new Set(pods.map(({ drains }) => drains.version)).size;
  const lastMs = Math.max(...pods.map(({ drains }) => drains.sinceMs + drains.rule.atMostMs));
  const until = renderDrainCondition(first.drains.rule.until);
  return [
    {
      cause: 'draining',
      severity: 'note',
      summary: `${counted(pods.length, 'pod')} of ${counted(versions, 'old version')} ${pods.length === 1 ? 'drains' : 'drain'} outside of the Service until ${until}, the last one until ${toRfc3339(lastMs)} at most`,
      pods: pods.map(({ drains, name }) => ({ name, reason: `of ${drains.version}` })),
      unblockedBy: [],
    },
  ];
}
