import type { CompiledEventRecorderOptions } from './event-recorder.options.js';
import { RecentMap } from './recent-map.js';

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * A token bucket per object, so that one failing object cannot flood the API. (client-go:
 * `EventSourceObjectSpamFilter`)
 */
export class EventSpamFilter {
  private readonly buckets: RecentMap<Bucket>;

  constructor(
    private readonly options: Pick<
      CompiledEventRecorderOptions,
      'burstPerObject' | 'refillEveryMs' | 'remembered'
    >,
  ) {
    this.buckets = new RecentMap(options.remembered);
  }

  /** Takes a token if there is one. @param nowMs by the monotonic clock */
  allows(objectKey: string, nowMs: number): boolean {
    const { burstPerObject, refillEveryMs } = this.options;
    const bucket = this.buckets.get(objectKey) ?? { tokens: burstPerObject, atMs: nowMs };
    const tokens = Math.min(burstPerObject, bucket.tokens + (nowMs - bucket.atMs) / refillEveryMs);
    const allowed = tokens >= 1;
    this.buckets.set(objectKey, { tokens: allowed ? tokens - 1 : tokens, atMs: nowMs });
    return allowed;
  }
}
