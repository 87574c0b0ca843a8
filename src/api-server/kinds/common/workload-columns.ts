import type { DeepReadonly, LabelSelector, PodTemplateSpec } from '../../../base/kubernetes/index.js';
import type { TableCell, TableColumn } from '../kind-definition.js';
import { wideColumn } from './columns.js';
import { formatSelector } from './format-selector.js';

interface WorkloadSpec {
  readonly template?: PodTemplateSpec;
  readonly selector?: DeepReadonly<LabelSelector>;
}

/** The `-o wide` columns of everything that has a pod template. */
export const WORKLOAD_COLUMNS: readonly TableColumn[] = [
  wideColumn('Containers', 'Names of the containers in the template.'),
  wideColumn('Images', 'Images of the containers in the template.'),
  wideColumn('Selector', 'Which pods belong to it.'),
];

export function workloadCells(spec: WorkloadSpec | undefined): TableCell[] {
  const containers = spec?.template?.spec?.containers ?? [];
  return [
    containers.map(({ name }) => name).join(','),
    containers.map(({ image }) => image ?? '').join(','),
    formatSelector(spec?.selector),
  ];
}
