import { createHash } from 'node:crypto';

/** A decimal number without leading zeros, of any length. */
const COMPARABLE = /^(?:0|[1-9]\d*)$/;

/** Prefix that {@link newerResourceVersion} gives to a pair of incomparable versions. No server uses it. */
const BOTH = '?';

/**
 * Order of two resourceVersions of one resource type: negative if `a` is older, 0 if they are equal. Only decimal
 * numbers have an order, as Kubernetes 1.35 and newer guarantee (KEP-5504). Other servers may use anything; opaque
 * versions can only be compared for equality: `undefined` if they differ.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isComparableResourceVersion(a) || !isComparableResourceVersion(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

export function isComparableResourceVersion(version: string): boolean {
  return COMPARABLE.test(version);
}

/**
 * The version a cache must show to have seen both: the newer one. For two incomparable versions, a name for the pair
 * that no server sends, so that only a fresh list satisfies it ({@link isOnlyMetByList}). If one is missing, the other.
 */
export function newerResourceVersion(a: string | undefined, b: string): string;
export function newerResourceVersion(a: string | undefined, b: string | undefined): string | undefined;
export function newerResourceVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (!a || !b) return a || b;
  const order = compareResourceVersions(a, b);
  if (order === undefined) return BOTH + createHash('sha1').update(`${a} ${b}`).digest('hex');
  return order >= 0 ? a : b;
}

/** resourceVersions by qualified resource (`replicasets.apps`). */
export type ResourceVersions = Readonly<Record<string, string>>;

/** The versions a cache must show to have seen both: {@link newerResourceVersion} of each resource. */
export function newestOfEach(a: ResourceVersions, b: ResourceVersions): ResourceVersions {
  const newest: Record<string, string> = { ...a };
  for (const resource in b) newest[resource] = newerResourceVersion(newest[resource], b[resource] ?? '');
  return newest;
}

/** Whether `version` names an incomparable pair: no event and no bookmark will ever show it. */
export function isOnlyMetByList(version: string): boolean {
  return version.startsWith(BOTH);
}
