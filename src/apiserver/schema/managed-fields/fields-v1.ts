import { parseJson, stringifyJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldSet } from './field-set.js';
import { FieldSetBuilder, LEAF, sortedChildren } from './field-set.js';

/** The `fieldsV1` of a `managedFields` entry: a nested map, in which `.` is the path itself. */
export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

export function toFieldsV1(set: FieldSet): FieldsV1 {
  const fields: Record<string, FieldsV1> = {};
  for (const [element, child] of sortedChildren(set)) {
    fields[element] = child === LEAF ? {} : childFields(child);
  }
  return fields;
}

function childFields(child: FieldSet): FieldsV1 {
  return child.member && child.children.size > 0 ? { '.': {}, ...toFieldsV1(child) } : toFieldsV1(child);
}

/** @returns undefined for what is no `fieldsV1` */
export function fromFieldsV1(fields: unknown): FieldSet | undefined {
  const builder = new FieldSetBuilder();
  return read(fields, builder) ? builder.build() : undefined;
}

function read(fields: unknown, into: FieldSetBuilder): boolean {
  if (!isJsonObject(fields)) return false;
  for (const [element, below] of Object.entries(fields)) {
    if (element === '.') {
      into.insert();
      continue;
    }
    if (!isElement(element)) return false;
    const child = into.child(element);
    if (!read(below, child)) return false;
    if (Object.keys(below as object).length === 0) child.insert();
  }
  return true;
}

/** Whether clients may write it: keys and values are encoded as JSON, positions as numbers. */
function isElement(element: string): boolean {
  const value = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return true;
    case 'i:':
      return /^\d+$/.test(value);
    case 'k:':
      return isJsonObject(tryParse(value));
    case 'v:':
      return tryParse(value) !== undefined;
    default:
      return false;
  }
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The path as Kubernetes writes it in messages: `.spec.containers[name="nginx"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('');
}

function elementText(element: string): string {
  const value = element.slice(2);
  if (element.startsWith('f:')) return `.${value}`;
  if (element.startsWith('k:')) {
    const keys = Object.entries(parseJson(value) as Record<string, unknown>);
    return `[${keys.map(([name, key]) => `${name}=${stringifyJson(key)}`).join(',')}]`;
  }
  return element.startsWith('v:') ? `[=${value}]` : `[${value}]`;
}
