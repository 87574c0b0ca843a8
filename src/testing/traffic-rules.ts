/** One version of a Deployment whose requests a route leads, at one moment. */
export interface LedVersion {
  /** `spec.replicas` of its ReplicaSet. */
  readonly size: number;
  /** Its ready pods, or those that the one who decides may take for ready. */
  readonly ready: number;
  /** Its share of the requests, percent, and one more for each rule that sends requests with a header or a cookie to it. */
  readonly share: number;
  /** Its share by weight alone, percent. */
  readonly weight: number;
  /** Whether the stable Service selects it. */
  readonly isStable: boolean;
}

/** The versions of a Deployment, by the name of the ReplicaSet. */
export type LedVersions = ReadonlyMap<string, LedVersion>;

/** The facts by which two moments are compared. */
export interface LedTimes {
  /** `traffic-stable: dynamic`: the old version may shrink with its share. */
  readonly isDynamic: boolean;
  /** `spec.replicas` of the Deployment: the least that the one who decides may know. */
  readonly replicas: number;
  readonly nowMs: number;
  /** How long a version has no share before it becomes smaller. */
  readonly drainMs: number;
  /** When each version had a share last, milliseconds; this function notes it. */
  readonly sharedAtMs: Map<string, number>;
}

/**
 * The rules of rollouts by weights that a single change breaks, as sentences:
 *
 * 1. No version gets a greater share of the requests while it has no ready pod and another has one.
 * 2. No version that has a share, or had one within the drain time, becomes smaller, other than by a change of `replicas`: an abort takes
 *    the share first.
 * 3. The version behind the stable Service stays whole until that Service has left it; where it may shrink, it keeps what its share needs.
 */
export function brokenTrafficRules(before: LedVersions, after: LedVersions, times: LedTimes): string[] {
  const serving = [...before.values()].some(({ ready }) => ready > 0);
  return [...after].flatMap(([name, now]) => {
    const was = before.get(name);
    if (!was) return [];
    if (was.share > 0) times.sharedAtMs.set(name, times.nowMs);
    const isGiven = serving && was.share < now.share;
    return [
      ...(isGiven && now.ready === 0 ? [`${name} gets a share of ${now.share}, and has no ready pod`] : []),
      ...sizeProblems(name, [was, now], times),
    ];
  });
}

function sizeProblems(
  name: string,
  [was, now]: readonly [LedVersion, LedVersion],
  { drainMs, isDynamic, nowMs, replicas, sharedAtMs }: LedTimes,
): string[] {
  if (now.size >= was.size) return [];
  const change = `${name} is made smaller, from ${was.size} to ${now.size}`;
  if (isDynamic && was.isStable && now.isStable) {
    const needed = Math.min(was.size, Math.ceil((replicas * was.weight) / 100));
    return now.size < needed ? [`${change}, and its share needs ${needed}`] : [];
  }
  if (now.size >= replicas) return [];
  const withoutMs = nowMs - (sharedAtMs.get(name) ?? -Infinity);
  return [
    ...(withoutMs < drainMs ? [`${change}, ${Math.floor(withoutMs)} ms after it had requests`] : []),
    ...(was.isStable ? [`${change}, and the stable Service selects it`] : []),
  ];
}
