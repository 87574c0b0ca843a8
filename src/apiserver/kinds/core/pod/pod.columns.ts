import type { DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { AGE_COLUMN, NAME_COLUMN, NONE, column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';
import { summarizePod } from './pod-status-word.js';
import type { PodSummary } from './pod-status-word.js';

export const POD_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Ready'),
  column('Status'),
  column('Restarts'),
  AGE_COLUMN,
  wideColumn('IP'),
  wideColumn('Node'),
  wideColumn('Nominated Node'),
  wideColumn('Readiness Gates'),
];

export function podRow(pod: DecodedObject<Pod>, nowMs: number): TableCell[] {
  const summary = summarizePod(pod);
  return [
    pod.metadata.name,
    `${summary.readyContainers}/${summary.totalContainers}`,
    summary.word,
    restartsCell(summary, nowMs),
    ageSince(pod.metadata.creationTimestamp, nowMs),
    pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? NONE,
    pod.spec?.nodeName ?? NONE,
    pod.status?.nominatedNodeName ?? NONE,
    readinessGates(pod),
  ];
}

function restartsCell({ restarts, lastRestart }: PodSummary, nowMs: number): string {
  if (restarts === 0 || !lastRestart) return String(restarts);
  return `${restarts} (${ageSince(lastRestart, nowMs)} ago)`;
}

function readinessGates(pod: DecodedObject<Pod>): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const conditions = pod.status?.conditions ?? [];
  const open = new Set(conditions.filter(({ status }) => status === 'True').map(({ type }) => type));
  return `${gates.filter((gate) => open.has(gate.conditionType)).length}/${gates.length}`;
}
