import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { sleepOn } from '@rollkeeper/machinery/clock/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Informer } from '@rollkeeper/client/informer';
import type { WorkQueue, WorkQueueInspector } from '@rollkeeper/runtime/work-queue';

/** A shorter pause counts as activity: a debounce or a retry. Longer ones wait for something. */
const SHORT_PAUSE_MS = 500;
/** A cluster counts as settled after this many consecutive looks without a write in between. */
const LOOKS = 3;
/** Limit of delayed items reported; the soonest first. */
const DELAYED_LOOKED_AT = 50;
const DEFAULT_TIMEOUT_MS = 30_000;

interface Workers {
  readonly queues: readonly (Pick<WorkQueue, 'name'> & Pick<WorkQueueInspector, 'counts' | 'inspect'>)[];
  readonly caches: readonly CacheOf[];
}

export interface CacheOf extends Pick<Informer, 'hasSeen'> {
  /** Qualified: `deployments.apps`. */
  readonly resource: string;
}

export function cachesOf(informers: readonly Informer[]): CacheOf[] {
  return informers.map((informer) => ({
    resource: qualifiedResource(informer.type),
    hasSeen: (resourceVersion) => informer.hasSeen(resourceVersion),
  }));
}

/** Tracks what the parts of one cluster are doing now, as far as they run in this process. */
export class Activity {
  private readonly newest = new Map<string, number>();
  private writes = 0;
  private requests = 0;
  private pauses = 0;
  private workers: (resources: readonly string[]) => Workers = () => ({ queues: [], caches: [] });

  /** @param lookPauseMs between two looks at whether the cluster has settled */
  constructor(
    private readonly machine: Clock,
    private readonly lookPauseMs = 0,
  ) {}

  /** Registers the source of queues and caches to inspect; it gets the resources written so far. */
  watch(workers: (resources: readonly string[]) => Workers): void {
    this.workers = workers;
  }

  /** A write to the store. */
  wrote(resource: string, revision: number): void {
    this.writes++;
    this.newest.set(resource, Math.max(this.newest.get(resource) ?? 0, revision));
  }

  /** Every resource that has been written. */
  get resources(): readonly string[] {
    return [...this.newest.keys()];
  }

  /**
   * A clock with the cluster's wall time and the machine's durations; short pauses are tracked. Use it for everything
   * that acts on the cluster: its pauses are unrelated to the time of the objects.
   */
  clockOf(wall: Pick<Clock, 'now'>): Clock {
    const { machine } = this;
    const clock: Clock = {
      now: () => wall.now(),
      monotonicNow: () => machine.monotonicNow(),
      setTimeout: (callback, delayMs) => this.noted(callback, delayMs),
      sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
    };
    return clock;
  }

  /** Wraps `client` to track requests in flight. */
  clientOf(client: ApiClient): ApiClient {
    return {
      get: (...args) => this.during(client.get(...args)),
      list: (...args) => this.during(client.list(...args)),
      create: (...args) => this.during(client.create(...args)),
      update: (...args) => this.during(client.update(...args)),
      patch: (...args) => this.during(client.patch(...args)),
      delete: (...args) => this.during(client.delete(...args)),
      deleteCollection: (...args) => this.during(client.deleteCollection(...args)),
      discover: (...args) => this.during(client.discover(...args)),
      ping: (...args) => this.during(client.ping(...args)),
      verifiesNames: (...args) => this.during(client.verifiesNames(...args)),
      watch: (...args) => client.watch(...args),
      logs: (...args) => client.logs(...args),
      exec: (...args) => client.exec(...args),
      portForward: (...args) => client.portForward(...args),
    };
  }

  /**
   * Resolves when nothing is left to do: no request in flight, no key waiting or being processed, every cache up to
   * date. Ignores work that waits for a later time, or for more than half a second.
   * @throws TimeoutError describing the current activity; the signal's reason
   */
  async settled(signal: AbortSignal, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<void> {
    const { machine } = this;
    const deadlineMs = machine.monotonicNow() + timeoutMs;
    let quiet = 0;
    let writes = this.writes;
    for (;;) {
      const busy = await this.busyWith();
      quiet = busy === undefined && writes === this.writes ? quiet + 1 : 0;
      if (quiet >= LOOKS) return;
      writes = this.writes;
      if (busy !== undefined && machine.monotonicNow() >= deadlineMs)
        throw new TimeoutError(`the cluster did not settle within ${timeoutMs} ms: ${busy}`);
      await machine.sleep(this.lookPauseMs, signal);
    }
  }

  /** In words, or `undefined` if there is nothing to do. */
  private async busyWith(): Promise<string | undefined> {
    if (this.requests > 0) return `${this.requests} requests are in flight`;
    if (this.pauses > 0) return `${this.pauses} short pauses have not ended`;
    const { caches, queues } = this.workers(this.resources);
    const behind = caches.filter((cache) => this.isBehind(cache)).map(({ resource }) => resource);
    if (behind.length > 0) return `caches are behind: ${[...new Set(behind)].join(', ')}`;
    const busy = await Promise.all(queues.map((queue) => this.keysOf(queue)));
    const told = busy.filter((keys) => keys !== undefined);
    return told.length === 0 ? undefined : told.join('; ');
  }

  private async keysOf(queue: Workers['queues'][number]): Promise<string | undefined> {
    const { active, delayed, waiting } = await queue.counts();
    if (active + waiting > 0)
      return `${queue.name}: ${active} keys are being processed, ${waiting} are waiting`;
    if (delayed === 0) return undefined;
    const soonMs = this.machine.now() + SHORT_PAUSE_MS;
    const retries = (await queue.inspect(DELAYED_LOOKED_AT)).delayed.filter(
      ({ dueMs, failures }) => failures > 0 && dueMs <= soonMs,
    );
    return retries.length === 0 ? undefined : `${queue.name}: ${retries.length} keys are about to be retried`;
  }

  private async during<R>(request: Promise<R>): Promise<R> {
    this.requests++;
    try {
      return await request;
    } finally {
      this.requests--;
    }
  }

  private isBehind(cache: CacheOf): boolean {
    const newest = this.newest.get(cache.resource);
    return newest !== undefined && !cache.hasSeen(String(newest));
  }

  private noted(callback: () => void, delayMs: number): TimerHandle {
    if (delayMs > SHORT_PAUSE_MS) return this.machine.setTimeout(callback, delayMs);
    this.pauses++;
    let isPending = true;
    const end = (): void => {
      if (isPending) this.pauses--;
      isPending = false;
    };
    const timer = this.machine.setTimeout(() => {
      end();
      callback();
    }, delayMs);
    return {
      cancel: () => {
        end();
        timer.cancel();
      },
    };
  }
}
