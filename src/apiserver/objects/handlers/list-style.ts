import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { yamlItem, yamlText } from '../../http/index.js';

/** The fields of a list beside its entries and its `metadata`, and the name of its entries. */
export interface ListFrame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly field: 'items' | 'rows';
  /** The text of an empty list. @default '[]' */
  readonly empty?: 'null';
}

/** How a list is written whose end is not known when it begins: its metadata comes last. */
export interface ListStyle {
  /** Before the first entry. */
  opening(frame: ListFrame): string;
  /** Between two entries. */
  readonly between: string;
  entry(value: unknown): string;
  /** After the last entry. */
  closing(frame: ListFrame, metadata: unknown): string;
  /** In place of all these, for a list without entries. */
  empty(frame: ListFrame, metadata: unknown): string;
}

const json: ListStyle = {
  opening: ({ field, head }) => `{${stringifyJson(head).slice(1, -1)},"${field}":[`,
  between: ',',
  entry: stringifyJson,
  closing: (_frame, metadata) => `],"metadata":${stringifyJson(metadata)}}\n`,
  empty: (frame, metadata) =>
    (json.opening(frame) + json.closing(frame, metadata)).replace(
      `"${frame.field}":[]`,
      `"${frame.field}":${frame.empty ?? '[]'}`,
    ),
};

const yaml: ListStyle = {
  opening: (frame) => `${headText(frame, true)}${frame.field}:\n`,
  between: '',
  entry: yamlItem,
  closing: (frame, metadata) => headText(frame, false) + yamlText({ metadata }),
  empty: (frame, metadata) =>
    `${headText(frame, true)}${frame.field}: ${frame.empty ?? '[]'}\n${yaml.closing(frame, metadata)}`,
};

export const LIST_STYLES = { json, yaml } as const;

/** The fields whose names come before that of the entries, or those that come after. */
function headText({ field, head }: ListFrame, isBefore: boolean): string {
  const fields = Object.entries(head).filter(([name]) => name < field === isBefore);
  return fields.length === 0 ? '' : yamlText(Object.fromEntries(fields));
}
