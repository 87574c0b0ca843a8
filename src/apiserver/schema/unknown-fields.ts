import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { showPath } from './field-path.js';
import type { MapKey } from './field-path.js';
import type { FieldFinding } from './object-schema.js';
import { isResourceField, pruned } from './structural-schema.js';
import type { StructuralSchema } from './structural-schema.js';

/** Drops the fields of a document that nothing describes, and notes them. The base of the reader of a whole document. */
export class UnknownFields {
  readonly unknown: FieldFinding[] = [];
  /** The keys that have been read so far, unknown ones included. */
  keys = 0;

  /** @param path of the value that is read, from the root */
  constructor(protected readonly path: (string | number | MapKey)[]) {}

  /** A field as its user described it; its key has been counted. */
  protected structuralField(object: Record<string, unknown>, key: string, schema: StructuralSchema): void {
    const below = pruned(schema, key);
    if (below === 'unknown') return this.dropUnknown(object, key);
    if (below === 'anything') {
      this.keys += countOwnKeys(object[key]);
      return;
    }
    this.path.push(key);
    this.structural(object[key], below);
    this.path.pop();
  }

  private structural(value: unknown, schema: StructuralSchema): void {
    if (Array.isArray(value)) {
      const { items } = schema;
      if (!items || typeof items !== 'object') {
        if (schema['x-kubernetes-preserve-unknown-fields']) this.keys += countOwnKeys(value);
        else this.undescribed(value);
      } else
        for (let index = 0; index < value.length; index++) {
          this.path.push(index);
          this.structural(value[index], items);
          this.path.pop();
        }
      return;
    }
    if (!isJsonObject(value)) return;
    for (const key in value) {
      this.keys++;
      if (schema['x-kubernetes-embedded-resource'] && isResourceField(key)) {
        this.keys += countOwnKeys(value[key]);
      } else this.structuralField(value, key, schema);
    }
  }

  /** No field of an object is known in a list that has no description. */
  private undescribed(list: readonly unknown[]): void {
    for (let index = 0; index < list.length; index++) {
      const value = list[index];
      this.path.push(index);
      if (Array.isArray(value)) this.undescribed(value);
      else if (isJsonObject(value))
        for (const key in value) {
          this.keys++;
          this.dropUnknown(value, key);
        }
      this.path.pop();
    }
  }

  protected dropUnknown(object: Record<string, unknown>, key: string): void {
    this.path.push(key);
    this.unknown.push({ problem: 'unknown', path: showPath(this.path) });
    this.path.pop();
    this.keys += countOwnKeys(object[key]);
    delete object[key];
  }
}

/** How many keys a value has, at any depth. */
export function countOwnKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countOwnKeys(item);
    return keys;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) keys += 1 + countOwnKeys(fields[key]);
  return keys;
}
