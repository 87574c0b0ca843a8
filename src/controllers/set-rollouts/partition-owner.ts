import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { readJson } from '../shared/index.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The field manager under which the field that holds a rollout is applied. */
export const FIELD_MANAGER = 'rollkeeper-rollouts';

/**
 * Another tool that keeps a field in its own description of the object, so that it would write it again and again: one that
 * applies it on the server's side, or `kubectl apply`. A tool that has written the field once without describing it is none.
 * @param path for example `['spec', 'updateStrategy', 'rollingUpdate', 'partition']`
 * @param object with its managedFields
 * @returns its name. Undefined: there is none
 */
export function ownerOfField(
  object: DeepReadonly<KubernetesObject>,
  path: readonly string[],
): string | undefined {
  const name = appliersOf(object, path).find((manager) => manager !== FIELD_MANAGER);
  if (typeof name === 'string') return name;
  const described = at(readJson(object.metadata.annotations?.[LAST_APPLIED]), path);
  return described === undefined || described === null ? undefined : 'kubectl apply';
}

/**
 * Whether the value of a field was applied here, and has not been overwritten since.
 * @param path as for {@link ownerOfField}
 * @param object with its managedFields
 */
export function isHeldHere(object: DeepReadonly<KubernetesObject>, path: readonly string[]): boolean {
  return appliersOf(object, path).includes(FIELD_MANAGER);
}

function appliersOf(
  { metadata: { managedFields = [] } }: DeepReadonly<KubernetesObject>,
  path: readonly string[],
): readonly unknown[] {
  const owned = path.map((field) => `f:${field}`);
  return managedFields
    .filter(isJsonObject)
    .filter(({ fieldsV1, operation }) => operation === 'Apply' && at(fieldsV1, owned) !== undefined)
    .map(({ manager }) => manager);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, field) => (isJsonObject(part) ? part[field] : undefined), value);
}
