import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** The leaves of the spec of a pod, as JSON, by their path. */
export type FlatPod = ReadonlyMap<string, string>;

/**
 * Parts of a spec that differ between equal pods, or that others than admission change: the scheduler, an autoscaler of
 * requests, a resize in place, `kubectl debug`.
 */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'nodeName',
  'hostname',
  'schedulingGates',
  'ephemeralContainers',
  'priority',
  'preemptionPolicy',
  'resources',
]);
/** Prefix of the volume of a token, which has a name of its own in each pod. */
const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{1,20}$/;
const OWN_NAME = '(its name)';

/**
 * The spec of a pod in a form that is equal for pods that admission treated in the same way. Items of lists have their name
 * in place of a position, and the own name of the pod is left out.
 */
export function flattenPod({ metadata, spec }: DeepReadonly<Pod>): FlatPod {
  const leaves = new Map<string, string>();
  const { name } = metadata;
  const normal = (text: string): string =>
    TOKEN_VOLUME.test(text) ? 'kube-api-access' : name === '' ? text : text.replaceAll(name, OWN_NAME);
  const visit = (path: string, value: unknown): void => {
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value;
      for (const [index, item] of items.entries()) visit(`${path}/${normal(keyOfItem(item, index))}`, item);
      if (items.length === 0) leaves.set(path, '[]');
    } else if (isJsonObject(value)) {
      const fields = Object.entries(value).filter(([key]) => !NOT_COMPARED.has(key));
      for (const [key, field] of fields) visit(`${path}/${key}`, field);
      if (fields.length === 0) leaves.set(path, '{}');
    } else leaves.set(path, stringifyJson(typeof value === 'string' ? normal(value) : value));
  };
  for (const [key, value] of Object.entries(spec)) if (!NOT_COMPARED.has(key)) visit(key, value);
  return leaves;
}

/** Containers, volumes and variables have a name, mounts a path, most others neither. */
function keyOfItem(item: unknown, index: number): string {
  if (!isJsonObject(item)) return String(index);
  const { mountPath, name } = item;
  if (typeof mountPath === 'string') return mountPath.replaceAll('/', '~');
  return typeof name === 'string' ? name : String(index);
}
