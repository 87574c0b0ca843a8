import type { CustomResourceColumnDefinition } from '@rollkeeper/machinery/types/apiextensions-v1';
import { compileJsonPath, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Int64, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { NAME_COLUMN } from '../common/columns.js';
import { humanDuration } from '../common/human-duration.js';
import type { KindDefinition, TableCell, TableColumn } from '../kind-definition.js';

type Column = Partial<CustomResourceColumnDefinition>;

const NAME: TableColumn = {
  ...NAME_COLUMN,
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
};

const AGE: Column = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  jsonPath: '.metadata.creationTimestamp',
};

/**
 * The name and what the definition asks for; the age where it asks for nothing.
 * Source: apiextensions-apiserver/pkg/registry/customresource/tableconvertor.
 */
export function customColumns(asked: readonly Column[] = []): Pick<KindDefinition, 'columns' | 'toRow'> {
  const columns = asked.length > 0 ? asked : [AGE];
  const paths = columns.map(({ jsonPath = '' }) => compileJsonPath(jsonPath));
  return {
    columns: [NAME, ...columns.map(toColumn)],
    toRow: (object: Readonly<UnstructuredObject>, nowMs) => [
      object.metadata.name,
      ...columns.map((column, index) => cellOf(paths[index]?.(object) ?? [], column, nowMs)),
    ],
  };
}

function toColumn({ name = '', type = 'string', format, description, priority }: Column): TableColumn {
  return {
    name,
    type: type as TableColumn['type'],
    format: format ?? '',
    description: description || `Custom resource definition column (in JSONPath format): ${name}`,
    priority: priority ?? 0,
  };
}

function cellOf(values: readonly unknown[], { type }: Column, nowMs: number): TableCell {
  const [value] = values;
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return values.map(textOf).join(' ');
    case 'integer':
      return isNumber(value) ? (typeof value === 'bigint' ? value : Math.trunc(value)) : null;
    case 'number':
      return isNumber(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
      return Number.isNaN(time) ? '<invalid>' : humanDuration(nowMs - time);
    }
    default:
      return null;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

function isNumber(value: unknown): value is Int64 {
  return typeof value === 'number' || typeof value === 'bigint';
}
