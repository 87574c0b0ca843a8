import type {
  ApiClient,
  ApiClientMetrics,
  ClusterConnection,
  HttpApiClient,
} from '@rollkeeper/client/api-client';
import {
  connectionFor,
  createHttpApiClient,
  serviceAccountCredentials,
  delegatingClient,
} from '@rollkeeper/client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import type { Logger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';
import type { CompiledReplicaOptions } from './replica.options.js';
import type { TokenBucketState } from '@rollkeeper/runtime/work-queue';
import { reserveToken } from '@rollkeeper/runtime/work-queue';

interface ControllerClientsDependencies {
  readonly client: HttpApiClient;
  readonly connection: ClusterConnection;
  readonly options: Pick<
    CompiledReplicaOptions,
    | 'use-service-account-credentials'
    | 'service-account-namespace'
    | 'service-account-prefix'
    | 'kube-api-qps'
    | 'kube-api-burst'
  >;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly metrics: ApiClientMetrics;
}

/**
 * Name of a controller's service account, if each has its own.
 * @returns undefined for one that works with the replica's credentials in any case
 */
export function serviceAccountOf(
  { name, serviceAccount }: Pick<ControllerDefinition, 'name' | 'serviceAccount'>,
  prefix = '',
): string | undefined {
  return serviceAccount === null ? undefined : prefix + (serviceAccount ?? `${name}-controller`);
}

/**
 * The API client of each controller: with its own user agent, and optionally its own account and rate limit, as in
 * kube-controller-manager.
 */
export class ControllerClients {
  private readonly own: HttpApiClient[] = [];

  constructor(private readonly deps: ControllerClientsDependencies) {}

  clientFor(definition: ControllerDefinition): ApiClient {
    const { clock, metrics, options } = this.deps;
    const userAgent = `rollkeeper/${VERSION} (${serviceAccountOf(definition) ?? `${definition.name}-controller`})`;
    const account = serviceAccountOf(definition, options['service-account-prefix']);
    const client =
      options['use-service-account-credentials'] && account !== undefined
        ? this.ownClient(account, userAgent)
        : this.deps.client.as(userAgent);
    const { 'kube-api-qps': qps, 'kube-api-burst': burst = Math.max(1, Math.ceil(2 * qps)) } = options;
    return qps === 0 ? client : withRateLimit(client, { qps, burst }, { clock, metrics });
  }

  async close(): Promise<void> {
    await Promise.all(this.own.map((client) => client.close()));
  }

  private ownClient(name: string, userAgent: string): HttpApiClient {
    const { client, clock, connection, logger, metrics, options, random } = this.deps;
    const serviceAccount = { namespace: options['service-account-namespace'], name };
    const credentials = serviceAccountCredentials({ client, serviceAccount, clock, random });
    const own = createHttpApiClient({
      connection: connectionFor(connection, credentials),
      userAgent,
      clock,
      random,
      logger,
      metrics,
    });
    this.own.push(own);
    return own;
  }
}

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
