import { createHash } from 'node:crypto';

/** A decimal number without leading zeros, of any length. */
const COMPARABLE = /^(?:0|[1-9]\d*)$/;

/** Begins what {@link newerResourceVersion} makes of two versions that cannot be compared. No server hands out such a one. */
const BOTH = '?';

/**
 * Order of two resourceVersions of one resource type: negative when `a` is older, 0 when they are equal. Only decimal numbers
 * have an order, which Kubernetes 1.35 and newer promise of theirs (KEP-5504); other servers may use anything, and of
 * what is opaque only equality is known: `undefined`.
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
 * What a cache must show to have seen both: the newer; of two that cannot be compared a name for the pair, which stands in no
 * answer of a server, so that nothing but a fresh list meets it ({@link isOnlyMetByList}). The other one where one is missing.
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

/** What a cache must show to have seen both: {@link newerResourceVersion} of each resource. */
export function newestOfEach(a: ResourceVersions, b: ResourceVersions): ResourceVersions {
  const newest: Record<string, string> = { ...a };
  for (const resource in b) newest[resource] = newerResourceVersion(newest[resource], b[resource] ?? '');
  return newest;
}

/** Whether `version` names a pair that cannot be compared: no event and no bookmark will ever show it. */
export function isOnlyMetByList(version: string): boolean {
  return version.startsWith(BOTH);
}
