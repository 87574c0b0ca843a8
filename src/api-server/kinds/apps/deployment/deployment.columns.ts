import type { Deployment } from '../../../../base/kubernetes/index.js';
import { AGE_COLUMN, NAME_COLUMN, column } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import { WORKLOAD_COLUMNS, workloadCells } from '../../common/workload-columns.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

export const DEPLOYMENT_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Ready', 'Ready pods of the wanted number.'),
  column('Up-to-date', 'Pods of the current template.'),
  column('Available', 'Pods that have been ready for at least minReadySeconds.'),
  AGE_COLUMN,
  ...WORKLOAD_COLUMNS,
];

export function deploymentRow({ metadata, spec, status }: Deployment, nowMs: number): TableCell[] {
  return [
    metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    ageSince(metadata.creationTimestamp, nowMs),
    ...workloadCells(spec),
  ];
}
