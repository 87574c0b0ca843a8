/**
 * Order of two resourceVersions of one resource type, as Kubernetes 1.35 and newer promise it: decimal numbers of
 * any length. Negative when `a` is older, 0 when equal.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The newer of the two; the other one where one is missing. */
export function newerResourceVersion(a: string | undefined, b: string): string;
export function newerResourceVersion(a: string | undefined, b: string | undefined): string | undefined;
export function newerResourceVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareResourceVersions(a, b) >= 0 ? a : b;
}
