import type { TableColumn } from '../kind-definition.js';

/** A column that is always shown. */
export function column(
  name: string,
  description: string,
  type: TableColumn['type'] = 'string',
  format = '',
): TableColumn {
  return { name, type, format, description, priority: 0 };
}

/** A column that `-o wide` adds. */
export function wideColumn(
  name: string,
  description: string,
  type: TableColumn['type'] = 'string',
): TableColumn {
  return { name, type, format: '', description, priority: 1 };
}

export const NAME_COLUMN = column('Name', 'Name of the object, unique in its namespace.', 'string', 'name');
export const AGE_COLUMN = column('Age', 'Time since the object was created.');
export const NONE = '<none>';
