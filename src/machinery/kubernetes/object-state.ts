/** Whether a deletion has begun; a pod that is being deleted may have ended already (`isPodTerminating`). */
export function isTerminating({
  metadata,
}: {
  readonly metadata: { readonly deletionTimestamp?: string };
}): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/**
 * The `lastTransitionTime` of a condition: while its status is the same, the time from before, so that a repeated sync
 * writes nothing. Reason and message do not count.
 */
export function transitionTime<Now extends string | undefined>(
  before: { readonly status?: string; readonly lastTransitionTime?: string } | undefined,
  status: string,
  now: Now,
): string | Now {
  return (before?.status === status ? before.lastTransitionTime : undefined) ?? now;
}
