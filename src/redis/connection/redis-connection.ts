import { UnreadableFileError, readNamedFileSync } from '@rollkeeper/machinery/files';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { ClusterNode, ClusterOptions, Command, RedisOptions } from 'ioredis';
import { Redis, Cluster } from 'ioredis';
import { InvalidOptionError, errorCode, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { RedisTarget, RedisTlsFiles } from './redis-target.js';
import { connectorOf } from './reach-host.js';
import { parseRedisUrl } from './redis-target.js';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/** A client of one server (with or without Sentinels), or of a Cluster. Keys of one command share a hash tag. */
export type RedisConnection = Redis | Cluster;

export interface RedisConnectionOptions {
  /** See `parseRedisUrl`: one server, Sentinels or a Cluster, with TLS and login. */
  url: string;
  /** Shown by `CLIENT LIST`. */
  connectionName: string;
  /**
   * `fail-fast`: a command waits at most `commandTimeoutMs`, also while disconnected, and rejects. `blocking`: for
   * connections that wait for work or messages; commands are held until reconnected.
   * @default 'fail-fast'
   */
  mode?: 'fail-fast' | 'blocking';
  /** @default 2000 */
  commandTimeoutMs?: number;
  /**
   * Commands of one turn of the event loop are sent as one batch, one batch at a time: more throughput, more latency.
   * Never in a Cluster, where batches would have to be split by slot.
   * @default on for `fail-fast`
   */
  autoPipelining?: boolean;
  /**
   * Whether to resend a command that was sent but not answered when the connection broke. Otherwise it fails by
   * `commandTimeoutMs`, and its caller knows that it may have been executed.
   * @default true
   */
  resendUnanswered?: boolean;
  /** Whether shard channels can be subscribed to in a Cluster, which takes separate connections. @default false */
  shardChannels?: boolean;
  /** Whether to reconnect after a failure. Otherwise the first failure is final. @default true */
  reconnect?: boolean;
  logger?: Logger;
}

const CONNECT_TIMEOUT_MS = 2000;
const CLUSTER_RETRY_MS = 100;

/**
 * A Redis client that connects on its first command (or `connect()`), reconnects forever with a backoff of 50 ms … 1 s,
 * and never throws an unhandled `error` event. The caller closes it.
 *
 * @throws InvalidOptionError for a URL, or a file named in it, that cannot be read
 */
export function createRedisConnection(options: RedisConnectionOptions): RedisConnection {
  const target = parseRedisUrl(options.url);
  const connection =
    target.kind === 'cluster' ? createCluster(target, options) : createSingle(target, options);
  connection.on('error', (error: unknown) =>
    options.logger?.warn('redis connection failed', {
      // Only the text: the error carries the command, and so the password of a failed login.
      error: errorMessage(lastNodeError(error)),
      connection: options.connectionName,
    }),
  );
  return connection;
}

/** The last node's error, if no node of a Cluster answered. */
export function lastNodeError(error: unknown): unknown {
  return (error as { lastNodeError?: unknown } | undefined)?.lastNodeError ?? error;
}

function createSingle(target: RedisTarget, options: RedisConnectionOptions): Redis {
  const failFast = isFailFast(options);
  const retryStrategy = retryStrategyOf(options);
  return new ClosableRedis({
    ...nodeOptions(target, options),
    ...addressOptions(target, retryStrategy),
    db: target.db,
    lazyConnect: true,
    enableAutoPipelining: options.autoPipelining ?? failFast,
    maxRetriesPerRequest: options.reconnect === false ? 0 : failFast ? 3 : null,
    ...(failFast ? { commandTimeout: commandTimeoutMs(options) } : {}),
    autoResendUnfulfilledCommands: options.resendUnanswered ?? true,
    retryStrategy,
    reconnectOnError: whatToDoAboutReply,
  });
}

function addressOptions(target: RedisTarget, retryStrategy: Backoff): NodeOptions {
  if (target.kind === 'server') return { ...target.addresses[0], ...connectorOf(target.addresses[0].host) };
  const { sentinelLogin, tls } = target;
  const tlsOptions = tls && readTlsFiles(tls);
  return {
    sentinels: [...target.addresses],
    name: target.master,
    sentinelRetryStrategy: retryStrategy,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    ...(sentinelLogin?.username === undefined ? {} : { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin?.password === undefined ? {} : { sentinelPassword: sentinelLogin.password }),
    ...(tlsOptions ? { enableTLSForSentinelMode: true, sentinelTLS: tlsOptions } : {}),
  };
}

function createCluster(target: RedisTarget, options: RedisConnectionOptions): Cluster {
  const { logger: _, ...rest } = options;
  return new BoundedRedisCluster(
    [...target.addresses],
    {
      lazyConnect: true,
      enableAutoPipelining: false,
      shardedSubscribers: options.shardChannels ?? false,
      clusterRetryStrategy: retryStrategyOf(rest),
      // When a node is lost, all commands sent to it fail, and there is no way to tell which were executed.
      retryDelayOnFailover: (options.resendUnanswered ?? true) ? CLUSTER_RETRY_MS : 0,
      retryDelayOnClusterDown: CLUSTER_RETRY_MS,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      redisOptions: { ...nodeOptions(target, options), maxRetriesPerRequest: null },
      // Certificates are issued for names; resolved addresses would not match.
      ...(target.tls ? { dnsLookup: (host, done) => done(null, host) } : {}),
    },
    isFailFast(options) ? commandTimeoutMs(options) : undefined,
  );
}

function nodeOptions({ password, tls, username }: RedisTarget, options: RedisConnectionOptions): NodeOptions {
  return {
    connectionName: options.connectionName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: readTlsFiles(tls) } : {}),
  };
}

function isFailFast({ mode }: RedisConnectionOptions): boolean {
  return (mode ?? 'fail-fast') === 'fail-fast';
}

function commandTimeoutMs(options: RedisConnectionOptions): number {
  return options.commandTimeoutMs ?? 2000;
}

type Backoff = (attempt: number) => number | null;

function retryStrategyOf({ reconnect = true }: RedisConnectionOptions): Backoff {
  return (attempt) => (reconnect ? doublingDelayMs(attempt - 1, { firstMs: 50, longestMs: 1000 }) : null);
}

/**
 * A server that was demoted to a replica has not executed the command: reconnecting finds the new master, and the
 * command is sent again there. UNBLOCKED, which a demoted server sends to blocked commands, also means reconnecting.
 */
function whatToDoAboutReply(error: Error): false | 1 | 2 {
  if (error.message.startsWith('READONLY')) return 2;
  return error.message.startsWith('UNBLOCKED') ? 1 : false;
}

function readTlsFiles({ servername, ...files }: RedisTlsFiles): TlsOptions {
  const read = Object.entries(files).map(([name, path]: [string, string]) => {
    try {
      return [name, readNamedFileSync(path).toString('utf8')];
    } catch (error) {
      const reason = error instanceof UnreadableFileError ? error.message : String(errorCode(error));
      throw new InvalidOptionError('redis-url', `the ${name} file ${path} cannot be read (${reason})`, {
        cause: error,
      });
    }
  });
  return { ...(Object.fromEntries(read) as TlsOptions), ...(servername === undefined ? {} : { servername }) };
}

/** The reply shape that our parsers expect. */
type NodeOptions = RedisOptions & { replyMapping?: 'legacy' };
type RedisClusterOptions = ClusterOptions & {
  redisOptions?: ClusterOptions['redisOptions'] & { replyMapping?: 'legacy' };
};

/** Commands that the client sends by itself after reconnecting, whose promises are not awaited. */
const RESUBSCRIPTION: readonly string[] = ['select', 'subscribe', 'psubscribe', 'ssubscribe'];

/**
 * A client that may be closed at any time, also while it resubscribes: ioredis 6.0.0 drops the promises of those commands, so a
 * rejection would end the process. An explicit subscribe still reports its failure.
 */
class ClosableRedis extends Redis {
  constructor(private readonly made: NodeOptions) {
    super(made);
    this.on('end', () => rejectUnanswered(this));
  }

  /** ioredis would make one without what this class adds. */
  override duplicate(changed: Partial<RedisOptions> = {}): Redis {
    return new ClosableRedis({ ...this.made, ...(changed as NodeOptions) });
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) endAtOnceBetweenAttempts(this);
    super.disconnect(reconnect);
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const command: Command = args[0];
    if (isOver(command, args[1])) return command.promise;
    if (RESUBSCRIPTION.includes(command.name)) command.promise.catch(() => undefined);
    return super.sendCommand(...args);
  }
}

/**
 * Rejects the commands that were to be sent again once the client is ready. ioredis 6.0.0 forgets them, and their promises, if
 * the client is closed after it has connected again and before it is ready.
 */
function rejectUnanswered(client: Redis): void {
  const { prevCommandQueue } = client as unknown as {
    readonly prevCommandQueue?: { shift(): { readonly command: Command } | undefined } | null;
  };
  for (let next = prevCommandQueue?.shift(); next; next = prevCommandQueue?.shift())
    next.command.reject(new Error('Connection is closed.'));
}

/**
 * Lets ioredis end a client at once that is closed between two attempts to connect. It would wait for the end of a stream that is
 * gone: the commands that wait would wait forever, and its status would stay `reconnecting`.
 */
function endAtOnceBetweenAttempts(client: { status: string }): void {
  if (client.status === 'reconnecting') client.status = 'wait';
}

/** The same as {@link isOverInCluster} for a node of a Cluster, which holds commands of its own until it is connected. */
function sendNothingThatIsOver(node: Redis): void {
  const send = node.sendCommand.bind(node);
  node.sendCommand = (...args) => (isOverInCluster(args[0], args[1]) ? args[0].promise : send(...args));
}

type Destination = Parameters<Redis['sendCommand']>[1];
type Pipeline = Extract<Destination, { isPipeline: true }>;

/**
 * Whether the caller of a command has its outcome. ioredis 6.0.0 keeps a command that has timed out while there was no connection,
 * and would send it with the next one: it would be executed after its caller has learned that it failed.
 */
function isOver(command: Command, stream: Destination, hasOutcome = command.isSettled): boolean {
  if (hasOutcome && stream && 'isPipeline' in stream) giveNothing(stream);
  return hasOutcome;
}

/** A pipeline is written once each of its commands has given its part. */
function giveNothing(pipeline: Pipeline): void {
  try {
    pipeline.write('');
  } catch {
    // In a Cluster, a pipeline has no connection before one of its commands is sent. It has nothing to write then.
  }
}

/** By attempt to send a pipeline, the promises of its commands. */
const attempts = new WeakMap<Pipeline, WeakMap<Command, Command['promise']>>();

/** The same as {@link isOver} in a Cluster, where ioredis 6.0.0 gives the commands of a pipeline new promises once all of them have failed. */
function isOverInCluster(command: Command, stream: Destination): boolean {
  if (!stream || !('isPipeline' in stream)) return isOver(command, stream);
  const promises = attempts.get(stream) ?? new WeakMap<Command, Command['promise']>();
  attempts.set(stream, promises);
  const promise = promises.get(command) ?? command.promise;
  promises.set(command, promise);
  return isOver(command, stream, command.isSettled || promise !== command.promise);
}

/** A Cluster client whose commands reject if not answered in time, also while the slots are unknown. */
class BoundedRedisCluster extends Cluster {
  constructor(
    startupNodes: ClusterNode[],
    options: RedisClusterOptions,
    /** Absent: commands wait without limit. */
    private readonly commandTimeoutMs: number | undefined,
  ) {
    super(startupNodes, options);
    this.on('+node', sendNothingThatIsOver);
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) endAtOnceBetweenAttempts(this);
    super.disconnect(reconnect);
  }

  override sendCommand(...args: Parameters<Cluster['sendCommand']>): unknown {
    const command: Command = args[0];
    if (isOverInCluster(command, args[1])) return command.promise;
    if (this.commandTimeoutMs !== undefined) command.setTimeout(this.commandTimeoutMs);
    return super.sendCommand(...args);
  }
}
