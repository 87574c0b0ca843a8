import { createHash } from 'node:crypto';
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

type ReadablePod = DeepReadonly<Pod>;

/** How running pods differ from what admission gives new ones. */
export interface Drift {
  readonly stale: number;
  readonly pods: number;
  /** The parts that differ in any of them, sorted: `containers/istio-proxy/image`. Names alone, never a value. */
  readonly parts: readonly string[];
  /** The digest of the specs that new pods get. */
  readonly digest: string;
}

const MOST_PARTS = 5;
/** The segments of a path that are shown. */
const DEPTH = 3;

/**
 * Compares running pods with two pods that admission has just been asked about, and that were not created. What differs
 * between those two is a matter of each pod, such as a time or a random name, and counts nowhere.
 * @returns undefined if no pod differs
 */
export function decideDrift(
  running: readonly ReadablePod[],
  [one, other]: readonly [ReadablePod, ReadablePod],
): Drift | undefined {
  const fresh = flattenPod(one);
  const again = flattenPod(other);
  const ofEachPod = differences(fresh, again);
  const known = ancestorsOf(fresh);
  const named = parentsOfNames(fresh, again);
  const parts = new Set<string>();
  let stale = 0;
  for (const pod of running) {
    const differing = [...differences(flattenPod(pod), fresh)].filter(
      (path) => !ofEachPod.has(path) && (fresh.has(path) || !named.has(parentIn(known, path))),
    );
    if (differing.length > 0) stale += 1;
    for (const path of differing) parts.add(path.split('/').slice(0, DEPTH).join('/'));
  }
  if (stale === 0) return undefined;
  const lines = [...fresh].filter(([path]) => !ofEachPod.has(path)).map((leaf) => leaf.join('='));
  const digest = createHash('sha256').update(lines.toSorted().join('\n')).digest('hex').slice(0, 16);
  const sorted = [...parts].toSorted();
  const more = sorted.length - MOST_PARTS;
  const told = more > 0 ? [...sorted.slice(0, MOST_PARTS), `${more} more`] : sorted;
  return { stale, pods: running.length, parts: told, digest };
}

/** The parts below which the two new pods have other names: those of running pods are other ones again. */
function parentsOfNames(fresh: FlatPod, again: FlatPod): ReadonlySet<string> {
  const [known, others] = [ancestorsOf(fresh), ancestorsOf(again)];
  return new Set([
    ...[...fresh.keys()].filter((path) => !again.has(path)).map((path) => parentIn(others, path)),
    ...[...again.keys()].filter((path) => !fresh.has(path)).map((path) => parentIn(known, path)),
  ]);
}

/** All paths of a pod, with those that lead to them. The whole spec is the empty one. */
function ancestorsOf(pod: FlatPod): ReadonlySet<string> {
  const all = new Set<string>(['']);
  for (const path of pod.keys())
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) all.add(path.slice(0, end));
  return all;
}

/** The longest beginning of a path that is known. */
function parentIn(known: ReadonlySet<string>, path: string): string {
  let end = path.length;
  while (end > 0 && !known.has(path.slice(0, end))) end = path.lastIndexOf('/', end - 1);
  return path.slice(0, Math.max(0, end));
}

function differences(a: FlatPod, b: FlatPod): ReadonlySet<string> {
  return new Set([...a.keys(), ...b.keys()].filter((path) => a.get(path) !== b.get(path)));
}
