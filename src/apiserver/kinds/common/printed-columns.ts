import type { TableCell, TableColumn } from '../kind-definition.js';
import { AGE_COLUMN, NAME_COLUMN, column, wideColumn } from './columns.js';
import { ageSince } from './human-duration.js';

/** A column with its value. */
export interface PrintedColumn<T> {
  readonly columns: readonly TableColumn[];
  cells(object: Readonly<T>, nowMs: number): TableCell[];
}

type CellOf<T> = (object: Readonly<T>, nowMs: number) => TableCell;

interface Named {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string };
}

export const NAME: PrintedColumn<Named> = {
  columns: [NAME_COLUMN],
  cells: (object) => [object.metadata.name],
};

export const AGE: PrintedColumn<Named> = {
  columns: [AGE_COLUMN],
  cells: (object, nowMs) => [ageSince(object.metadata.creationTimestamp, nowMs)],
};

/** In place of the age, for kinds without columns of their own. */
export const CREATED_AT: PrintedColumn<Named> = {
  columns: [column('Created At', 'date')],
  cells: (object) => [object.metadata.creationTimestamp ?? ''],
};

/** A column that is always shown. */
export function shown<T>(
  name: string,
  cell: CellOf<T>,
  type?: TableColumn['type'],
  format?: string,
): PrintedColumn<T> {
  return { columns: [column(name, type, format)], cells: (object, nowMs) => [cell(object, nowMs)] };
}

/** A column that `-o wide` adds. */
export function wide<T>(name: string, cell: CellOf<T>): PrintedColumn<T> {
  return { columns: [wideColumn(name)], cells: (object, nowMs) => [cell(object, nowMs)] };
}

/** The columns that `kubectl get` prints of a kind. */
interface PrintedKind<T> {
  readonly columns: readonly TableColumn[];
  toRow(object: Readonly<T>, nowMs: number): TableCell[];
}

/** The two parts of a kind that say what `kubectl get` prints. */
export function printed<T>(...parts: readonly PrintedColumn<T>[]): PrintedKind<T> {
  return {
    columns: parts.flatMap(({ columns }) => columns),
    toRow: (object, nowMs) => parts.flatMap((part) => part.cells(object, nowMs)),
  };
}
