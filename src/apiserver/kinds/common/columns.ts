import type { TableColumn, TableCell } from '../kind-definition.js';
import type { Decoded, DeepReadonly, LabelSelector, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { selectorText } from '@rollkeeper/machinery/kubernetes';

/** A column that is always shown. */
export function column(name: string, type: TableColumn['type'] = 'string', format = ''): TableColumn {
  return { name, type, format, priority: 0 };
}

/** A column that `-o wide` adds. */
export function wideColumn(name: string): TableColumn {
  return { name, type: 'string', format: '', priority: 1 };
}

export const NAME_COLUMN = column('Name', 'string', 'name');
export const AGE_COLUMN = column('Age');
export const NONE = '<none>';

/** A label selector as text, `app=web,tier in (a,b)`; sorted by key. `<none>` where there is nothing to show. */
export function formatSelector(selector: DeepReadonly<Decoded<LabelSelector>> | undefined): string {
  return selectorText(selector) || '<none>';
}

/** Labels as kubectl shows them, sorted by key: `a=1,b=2`. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  return formatSelector({ matchLabels: labels });
}

interface WorkloadSpec {
  readonly template?: Decoded<PodTemplateSpec>;
  readonly selector?: DeepReadonly<Decoded<LabelSelector>>;
}

/** The `-o wide` columns of everything that has a pod template. */
export const WORKLOAD_COLUMNS: readonly TableColumn[] = [
  wideColumn('Containers'),
  wideColumn('Images'),
  wideColumn('Selector'),
];

export function workloadCells(spec: WorkloadSpec | undefined): TableCell[] {
  const containers = spec?.template?.spec?.containers ?? [];
  return [
    containers.map(({ name }) => name).join(','),
    containers.map(({ image }) => image ?? '').join(','),
    formatSelector(spec?.selector),
  ];
}
