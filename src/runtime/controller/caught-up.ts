import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StaleCacheError } from '@rollkeeper/machinery/errors';
import type { Informer, VersionScope } from '@rollkeeper/client/informer/informer';

/** Finds the running informer of a qualified resource (`replicasets.apps`). */
export type InformerByResource = (
  qualifiedResource: string,
) => Pick<Informer, 'hasSeen' | 'waitForResourceVersion'> | undefined;

interface CaughtUpOptions extends VersionScope {
  /** Longest wait, milliseconds; after it the sync is postponed, because acting on a stale cache is never right. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** The result of a wait for the caches. */
export interface CaughtUp {
  /** Whether any cache was behind at first. */
  readonly waited: boolean;
  readonly waitedMs: number;
}

/**
 * Resolves once this replica's caches show everything in `mustHaveSeen`. Resources without an informer here are
 * skipped: no decision depends on a cache that does not exist.
 * @throws StaleCacheError naming the resources that stayed behind
 */
export async function waitUntilCaughtUp(
  mustHaveSeen: ResourceVersions,
  informerOf: InformerByResource,
  signal: AbortSignal,
  { timeoutMs, clock, namespace }: CaughtUpOptions,
): Promise<CaughtUp> {
  const scope = { namespace };
  const behind = findBehind(mustHaveSeen, informerOf, scope);
  if (behind.length === 0) return { waited: false, waitedMs: 0 };
  const startedMs = clock.monotonicNow();
  const expired = new AbortController();
  const timer = clock.setTimeout(
    () => expired.abort(staleCache(findBehind(mustHaveSeen, informerOf, scope))),
    timeoutMs,
  );
  const either = new LinkedAbort(signal, expired.signal);
  try {
    await Promise.all(
      behind.map(({ informer, version }) => informer.waitForResourceVersion(version, either.signal, scope)),
    );
  } finally {
    timer.cancel();
    either.close();
  }
  return { waited: true, waitedMs: clock.monotonicNow() - startedMs };
}

/** @throws StaleCacheError naming the resources whose caches do not show everything in `mustHaveSeen` now */
export function assertCaughtUp(
  mustHaveSeen: ResourceVersions,
  informerOf: InformerByResource,
  scope: VersionScope,
): void {
  const behind = findBehind(mustHaveSeen, informerOf, scope);
  if (behind.length > 0) throw staleCache(behind);
}

interface Behind {
  readonly resource: string;
  readonly version: string;
  readonly informer: Pick<Informer, 'waitForResourceVersion'>;
}

function findBehind(
  mustHaveSeen: ResourceVersions,
  informerOf: InformerByResource,
  scope: VersionScope,
): Behind[] {
  return Object.entries(mustHaveSeen).flatMap(([resource, version]) => {
    const informer = informerOf(resource);
    return informer && !informer.hasSeen(version, scope) ? [{ resource, version, informer }] : [];
  });
}

function staleCache(behind: readonly Behind[]): StaleCacheError {
  return new StaleCacheError(
    `the cache has not caught up with ${behind.map(({ resource, version }) => `${resource} ${version}`).join(', ')}`,
  );
}
