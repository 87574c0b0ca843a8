import { createHash } from 'node:crypto';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { FlatPod } from './flatten-pod.js';
import { flattenPod } from './flatten-pod.js';

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
  const ofEachPod = differences(fresh, flattenPod(other));
  const parts = new Set<string>();
  let stale = 0;
  for (const pod of running) {
    const differing = [...differences(flattenPod(pod), fresh)].filter((path) => !ofEachPod.has(path));
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

function differences(a: FlatPod, b: FlatPod): ReadonlySet<string> {
  return new Set([...a.keys(), ...b.keys()].filter((path) => a.get(path) !== b.get(path)));
}
