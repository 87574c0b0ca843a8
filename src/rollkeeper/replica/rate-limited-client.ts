import type { ApiClient, ApiClientMetrics } from '@rollkeeper/client/api-client';
import { delegatingClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { TokenBucketState } from '@rollkeeper/runtime/work-queue';
import { reserveToken } from '@rollkeeper/runtime/work-queue';

interface RateLimit {
  /** Average requests per second. */
  readonly qps: number;
  /** Burst of requests. */
  readonly burst: number;
}

interface RateLimitDependencies {
  readonly clock: Clock;
  readonly metrics: Pick<ApiClientMetrics, 'limited'>;
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Wraps `client` with a rate limit: requests beyond it wait in order. Watches are not limited, because they start
 * rarely.
 */
export function withRateLimit(
  client: ApiClient,
  { burst, qps }: RateLimit,
  { clock, metrics }: RateLimitDependencies,
): ApiClient {
  let bucket: TokenBucketState | undefined;
  const take = async (verb: string, signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    const limits = { bucketRatePerSecond: qps, bucketBurst: burst };
    const { delayMs, state } = reserveToken(bucket, clock.monotonicNow(), limits);
    bucket = state;
    if (delayMs > 0) await clock.sleep(delayMs, signal);
    metrics.limited({ verb, waitedMs: delayMs });
  };
  const all = delegatingClient(client);
  const limited = (Object.entries(all) as [string, Call][]).map(([verb, call]): [string, Call] => [
    verb,
    async (...args) => {
      await take(verb, signalOf(args));
      return call(...args);
    },
  ]);
  return { ...(Object.fromEntries(limited) as unknown as ApiClient), watch: all.watch.bind(all) };
}

/** The signal in the options, which are the last argument of every verb. */
function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  const { guard, signal }: { signal?: AbortSignal; guard?: AbortSignal } = args.at(-1) ?? {};
  return signal ?? guard;
}
