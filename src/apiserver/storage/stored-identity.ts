import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { StorageKey } from './storage.js';

/** The fields that an entry of `ownerReferences` cannot do without. */
const REFERENCE_FIELDS = ['apiVersion', 'kind', 'name', 'uid'];

/**
 * The form that the fields of metadata must have if they are present: clients of all kinds read them of every object.
 */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  generateName: isText,
  uid: isText,
  creationTimestamp: isTime,
  deletionTimestamp: isTime,
  labels: isTexts,
  annotations: isTexts,
  finalizers: (value) => Array.isArray(value) && value.every(isText),
  ownerReferences: (value) =>
    Array.isArray(value) &&
    value.every((one) => isJsonObject(one) && REFERENCE_FIELDS.every((field) => isText(one[field]))),
  managedFields: (value) => Array.isArray(value) && value.every(isJsonObject),
};

/**
 * Why what is stored under a key is no object of that name; undefined: it is one. Clients keep objects by their metadata, and
 * fail at a whole list for one with metadata of other types.
 */
export function identityProblem(
  object: unknown,
  { name, namespace }: Pick<StorageKey, 'name' | 'namespace'>,
): string | undefined {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  if (!isJsonObject(metadata)) return 'it has no metadata';
  if (metadata['name'] !== name || (metadata['namespace'] ?? '') !== namespace)
    return 'its metadata name another object';
  for (const [field, isSound] of Object.entries(FIELDS)) {
    const value = metadata[field] ?? undefined;
    if (value !== undefined && !isSound(value)) return `its metadata.${field} has another type`;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((text) => text === null || isText(text));
}

function isTime(value: unknown): boolean {
  return isText(value) && Number.isFinite(Date.parse(value));
}
