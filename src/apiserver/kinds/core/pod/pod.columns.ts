import type { DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { AGE_COLUMN, NAME_COLUMN, NONE, column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';
import { summarizePod } from './pod-status-word.js';
import type { PodSummary } from './pod-status-word.js';

export const POD_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Ready', 'Ready containers of all containers.'),
  column('Status', 'What the containers together are doing.'),
  column('Restarts', 'How often containers of the pod were restarted, and when last.'),
  AGE_COLUMN,
  wideColumn('IP', 'Address of the pod.'),
  wideColumn('Node', 'The node that runs the pod.'),
  wideColumn('Nominated Node', 'The node that the pod may get once others have made room for it.'),
  wideColumn('Readiness Gates', 'Fulfilled conditions of those that must hold for the pod to be ready.'),
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
