import type { ResourceVersions } from '../actor/actor.js';
import { LinkedAbort } from '../cancellation/index.js';
import type { Clock } from '../clock/index.js';
import { StaleCacheError } from '../errors/index.js';
import type { Informer } from '../informer/informer.js';
import { compareResourceVersions } from '../kubernetes/index.js';

/** Finds the running informer of a qualified resource (`replicasets.apps`). */
export type InformerByResource = (
  qualifiedResource: string,
) => Pick<Informer, 'lastSyncedResourceVersion' | 'waitForResourceVersion'> | undefined;

export interface CaughtUpOptions {
  /** Longest wait, milliseconds; after it the sync is put off, because acting on a stale cache is never right. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** How a wait for the caches went. */
export interface CaughtUp {
  /** Whether any cache was behind at first. */
  readonly waited: boolean;
  readonly waitedMs: number;
}

/**
 * Resolves once this replica's caches show everything that `mustHaveSeen` names. Resources without an informer
 * here are passed over: nothing is decided from a cache that does not exist.
 * @throws StaleCacheError naming the resources that stayed behind
 */
export async function waitUntilCaughtUp(
  mustHaveSeen: ResourceVersions,
  informerOf: InformerByResource,
  signal: AbortSignal,
  { timeoutMs, clock }: CaughtUpOptions,
): Promise<CaughtUp> {
  const behind = findBehind(mustHaveSeen, informerOf);
  if (behind.length === 0) return { waited: false, waitedMs: 0 };
  const startedMs = clock.monotonicNow();
  const expired = new AbortController();
  const timer = clock.setTimeout(
    () => expired.abort(staleCache(findBehind(mustHaveSeen, informerOf))),
    timeoutMs,
  );
  const either = new LinkedAbort(signal, expired.signal);
  try {
    await Promise.all(
      behind.map(({ informer, version }) => informer.waitForResourceVersion(version, either.signal)),
    );
  } finally {
    timer.cancel();
    either.close();
  }
  return { waited: true, waitedMs: clock.monotonicNow() - startedMs };
}

interface Behind {
  readonly resource: string;
  readonly version: string;
  readonly informer: Pick<Informer, 'waitForResourceVersion'>;
}

function findBehind(mustHaveSeen: ResourceVersions, informerOf: InformerByResource): Behind[] {
  return Object.entries(mustHaveSeen).flatMap(([resource, version]) => {
    const informer = informerOf(resource);
    if (!informer) return [];
    const seen = informer.lastSyncedResourceVersion;
    const isBehind = seen === undefined || compareResourceVersions(seen, version) < 0;
    return isBehind ? [{ resource, version, informer }] : [];
  });
}

function staleCache(behind: readonly Behind[]): StaleCacheError {
  return new StaleCacheError(
    `the cache has not caught up with ${behind.map(({ resource, version }) => `${resource} ${version}`).join(', ')}`,
  );
}
