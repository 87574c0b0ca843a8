import type { ClusterConnection, HttpApiClient, HttpApiClientOptions } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ApiFlags } from './shared-options.js';
import { UP_FOLDER } from './shared-options.js';

export interface ClusterFlags extends ApiFlags {
  /** `--data-dir`, of commands that have it. */
  readonly dataDir?: string;
  /** Whether `kubeconfig` was found, and not named by the user. @default false */
  readonly isFound?: boolean;
}

/** The work of a command with a cluster. */
export type ApiWork<T> = (
  client: HttpApiClient,
  serverUrl: string,
  connection: ClusterConnection,
) => Promise<T>;

/** For a server that has said that it is not ready: it may never answer what depends on its store. */
const IMPATIENT = { requestTimeoutMs: 1000, maxAttempts: 1 } as const;
/** Beyond the limit of the first answer, so that this limit is the one that is reported, milliseconds. The program ends after both. */
const CONNECTS_LATER_MS = 100;

/**
 * Runs `work` with a client for a kubeconfig (default: kubectl's rules; if these lead to no cluster, the one that `up` runs
 * from this folder).
 * @throws StartupError within two seconds if the server does not answer, and one that says that the server is not ready if that
 *   is why `work` fails; otherwise what `work` throws
 */
export async function withApi<T>(flags: ClusterFlags, work: ApiWork<T>): Promise<T> {
  const { connection, clock } = await clusterOf(flags);
  const { firstAnswer } = await import('../terminal/first-answer.js');
  const withinMs = await patienceMs();
  const why = await withClient({ connection, clock }, async (client) => {
    const answer = await firstAnswer({ client, connection, clock, withinMs });
    return answer.isReady ? { done: await work(client, connection.serverUrl, connection) } : answer;
  });
  if ('done' in why) return why.done;
  return withClient({ connection, clock, ...IMPATIENT }, async (client) => {
    try {
      return await work(client, connection.serverUrl, connection);
    } catch (error) {
      throw await unready(error, connection.serverUrl, why.why);
    }
  });
}

/** As {@link withApi}, without asking first whether the server answers: for work that reports this itself. */
export async function withSilentApi<T>(flags: ClusterFlags, work: ApiWork<T>): Promise<T> {
  const { connection, clock } = await clusterOf(flags);
  return withClient({ connection, clock }, (client) => work(client, connection.serverUrl, connection));
}

/** They take 0.7 s where nothing listens, so that this is reported, and not a silence. */
const ATTEMPTS = 4;

let knownPatienceMs: number | undefined;

/** How long this command waits for the first answer of a server, milliseconds; see `patienceOf`. */
export async function patienceMs(): Promise<number> {
  const { patienceOf } = await import('../terminal/first-answer.js');
  return (knownPatienceMs ??= patienceOf(process.uptime() * 1000));
}

async function clusterOf(
  flags: ClusterFlags,
): Promise<{ readonly connection: ClusterConnection; readonly clock: Clock }> {
  // Imported lazily to keep other commands small.
  const { loadKubeconfig } = await import('@rollkeeper/client/api-client');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const clock = new SystemClock();
  const found = flags.kubeconfig === undefined ? await kubeconfigOfUp(flags) : undefined;
  const path = flags.kubeconfig ?? found;
  const isFound = flags.isFound ?? found !== undefined;
  return { clock, connection: await loadKubeconfig({ path, context: flags.context, clock, isFound }) };
}

async function withClient<T>(
  options: Pick<HttpApiClientOptions, 'connection' | 'clock' | 'requestTimeoutMs' | 'maxAttempts'>,
  work: (client: HttpApiClient) => Promise<T>,
): Promise<T> {
  const { createHttpApiClient } = await import('@rollkeeper/client/api-client');
  const { VERSION } = await import('@rollkeeper/machinery/version');
  const { silentLogger } = await import('@rollkeeper/machinery/logging');
  const client = createHttpApiClient({
    maxAttempts: ATTEMPTS,
    ...options,
    connectTimeoutMs: (await patienceMs()) + CONNECTS_LATER_MS,
    userAgent: `rollkeeper/${VERSION} (cli)`,
    logger: silentLogger,
  });
  try {
    return await work(client);
  } finally {
    await closeSoon(client, options.clock);
  }
}

/** The error of a request to a server that is not ready, with that as the reason. Others are passed on. */
async function unready(error: unknown, serverUrl: string, why: string): Promise<unknown> {
  const { apiStatusOf } = await import('@rollkeeper/client/api-client');
  const { isSilence } = await import('../terminal/first-answer.js');
  if (!isSilence(error) && (apiStatusOf(error)?.code ?? 0) < 500) return error;
  return new StartupError(
    `the API server at ${serverUrl} answers, but is not ready (${why}): ${errorMessage(error)}`,
    { cause: error },
  );
}

async function kubeconfigOfUp({ context, dataDir = UP_FOLDER }: ClusterFlags): Promise<string | undefined> {
  const { isClusterConfigured } = await import('@rollkeeper/client/api-client');
  if (context !== undefined || isClusterConfigured()) return undefined;
  const { runningKubeconfig } = await import('../replica/supervisor/index.js');
  return runningKubeconfig(dataDir);
}

/** A connection that is being made to a server that does not answer is given up no sooner than its own limit. */
async function closeSoon(client: { close(): Promise<void> }, clock: Clock): Promise<void> {
  const closed = new AbortController();
  const patience = clock.sleep(CLOSES_WITHIN_MS, closed.signal).catch(() => undefined);
  await Promise.race([client.close(), patience]);
  closed.abort();
}

const CLOSES_WITHIN_MS = 500;
