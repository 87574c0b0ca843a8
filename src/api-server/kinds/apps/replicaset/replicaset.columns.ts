import type { ReplicaSet } from '../../../../base/kubernetes/index.js';
import { AGE_COLUMN, NAME_COLUMN, column } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import { WORKLOAD_COLUMNS, workloadCells } from '../../common/workload-columns.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

export const REPLICA_SET_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Desired', 'The wanted number of pods.', 'integer'),
  column('Current', 'The number of pods last seen.', 'integer'),
  column('Ready', 'The number of pods that are ready.', 'integer'),
  AGE_COLUMN,
  ...WORKLOAD_COLUMNS,
];

export function replicaSetRow({ metadata, spec, status }: ReplicaSet, nowMs: number): TableCell[] {
  return [
    metadata.name,
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ageSince(metadata.creationTimestamp, nowMs),
    ...workloadCells(spec),
  ];
}
