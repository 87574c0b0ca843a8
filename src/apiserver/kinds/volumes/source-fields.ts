import type { FieldError } from '../kind-definition.js';
import { forbidden } from '../validation/field-errors.js';

/** The names of sources that a genuine server refuses as the second one. */
const REFUSED_AS: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' };

/** The complaint about a source of a volume that has another one already. */
export function moreThanOneSource(path: string, source: string): FieldError {
  return forbidden(`${path}.${REFUSED_AS[source] ?? source}`, 'may not specify more than 1 volume type');
}

/** The name of a source in a genuine server's messages about its fields. */
export function ruleField(source: string): string {
  return source === 'gcePersistentDisk' ? 'persistentDisk' : source;
}
