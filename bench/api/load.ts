import type { HttpTarget } from './http-connection.js';
import { HttpConnection } from './http-connection.js';
import type { PodVerb } from './pod-requests.js';
import { WATCH_PODS, podRequest } from './pod-requests.js';
import type { Distribution } from './figures.js';
import { distribution } from './figures.js';
import { RedisLoad } from './redis-load.js';
import { WatchConnection } from './watch-connection.js';

/** A job of the load generator. Names are those of the objects, each taken once. */
export type LoadJob =
  | {
      readonly kind: 'http';
      readonly target: HttpTarget;
      readonly connections: number;
      readonly verb: PodVerb;
      readonly names: readonly string[];
      /** So many watches of all pods, which note when the event of each write arrives. @default 0 */
      readonly watches?: number;
    }
  | {
      readonly kind: 'redis';
      readonly url: string;
      readonly inFlight: number;
      readonly command: 'set' | 'get';
      readonly requests: number;
    };

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds from a request to its answer. */
  readonly latency: Distribution;
  /** Milliseconds from a write to the arrival of its event: since it was sent, and since it was answered. */
  readonly watch?: { readonly sinceSent: Distribution; readonly sinceAnswered: Distribution };
  /** The CPU time that the load generator itself used. */
  readonly cpuSeconds: number;
}

/**
 * The load generator's process: does one job after the other and tells what it took. In a process of its own, so
 * that it neither waits for the servers' starter nor hides its own share of the processors.
 */
process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function run(job: LoadJob): Promise<LoadResult> {
  return job.kind === 'http' ? runHttp(job) : runRedis(job);
}

async function runHttp(job: Extract<LoadJob, { kind: 'http' }>): Promise<LoadResult> {
  const { target, verb, names } = job;
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => HttpConnection.open(target)),
  );
  const times = new WriteTimes();
  const watches = await openWatches(job, connections[0]!, times);
  const latencies: number[] = [];
  let next = 0;
  const work = async (connection: HttpConnection): Promise<void> => {
    while (next < names.length) {
      const name = names[next++]!;
      const text = podRequest(target, verb, name);
      const sentMs = performance.now();
      if (watches.length > 0) times.sent(name, sentMs);
      const { status } = await connection.request(text);
      if (status >= 300) throw new Error(`${verb} ${name} was answered ${status}`);
      const answeredMs = performance.now();
      if (watches.length > 0) times.answered(name, answeredMs);
      latencies.push(answeredMs - sentMs);
    }
  };
  const result = await measured(latencies, () => Promise.all(connections.map(work)));
  await times.untilAll(names.length * watches.length);
  for (const connection of [...connections, ...watches]) connection.close();
  return { ...result, ...(watches.length > 0 && { watch: times.distributions() }) };
}

async function openWatches(
  { target, watches = 0 }: Extract<LoadJob, { kind: 'http' }>,
  connection: HttpConnection,
  times: WriteTimes,
): Promise<WatchConnection[]> {
  if (watches === 0) return [];
  const { body } = await connection.request(podRequest(target, 'list', ''), { body: true });
  const version = /"resourceVersion":"(\d+)"/.exec(body)?.[1] ?? '';
  return Promise.all(
    Array.from({ length: watches }, () =>
      WatchConnection.open(target, WATCH_PODS + version, (name) => times.arrived(name)),
    ),
  );
}

/** When each write was sent and answered, and its events arrived. */
class WriteTimes {
  private readonly sentMs = new Map<string, number>();
  private readonly answeredMs = new Map<string, number>();
  private readonly arrivals: { readonly name: string; readonly atMs: number }[] = [];
  private onArrival: () => void = () => undefined;

  sent(name: string, atMs: number): void {
    this.sentMs.set(name, atMs);
  }

  answered(name: string, atMs: number): void {
    this.answeredMs.set(name, atMs);
  }

  arrived(name: string): void {
    this.arrivals.push({ name, atMs: performance.now() });
    this.onArrival();
  }

  untilAll(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.onArrival = () => this.arrivals.length >= count && resolve();
      this.onArrival();
    });
  }

  distributions() {
    const since = (times: Map<string, number>): Distribution =>
      // An event that was faster than the answer was not late at all.
      distribution(this.arrivals.map(({ name, atMs }) => Math.max(atMs - (times.get(name) ?? NaN), 0)));
    return { sinceSent: since(this.sentMs), sinceAnswered: since(this.answeredMs) };
  }
}

async function runRedis({ command, inFlight, requests, url }: Extract<LoadJob, { kind: 'redis' }>) {
  const redis = await RedisLoad.open(url);
  const latencies: number[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requests) {
      const key = `bench:${next++ % 10_000}`;
      const sentMs = performance.now();
      await redis.send(command, key);
      latencies.push(performance.now() - sentMs);
    }
  };
  const result = await measured(latencies, () => Promise.all(Array.from({ length: inFlight }, work)));
  redis.close();
  return result;
}

async function measured(latencies: number[], work: () => Promise<unknown>): Promise<LoadResult> {
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const { system, user } = process.cpuUsage(cpuBefore);
  return {
    requests: latencies.length,
    seconds,
    latency: distribution(latencies),
    cpuSeconds: (system + user) / 1e6,
  };
}
