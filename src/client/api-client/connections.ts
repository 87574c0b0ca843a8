import { createSecureContext } from 'node:tls';
import type { Dispatcher, buildConnector } from 'undici';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { Agent, ProxyAgent } from './agents.js';
import type { MayStart } from './ask-before-start.js';
import { askBeforeStart } from './ask-before-start.js';
import type { ClusterConnection, TlsMaterial } from './cluster-connection.js';

interface ConnectionsOptions {
  readonly connection: ClusterConnection;
  /** Limit of concurrent requests. */
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** Larger answers are rejected: 500 pods of a usual size are a tenth of it. Watches have a limit per line. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Connections younger than this are not replaced: many requests notice dead connections at the same time. */
const YOUNG_MS = 1_000;

/** The answer to one request. The body of a watch has no end. */
interface SentAnswer {
  readonly statusCode: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: AsyncIterable<Uint8Array> & {
    text(): Promise<string>;
    on(event: 'error', listener: () => void): unknown;
  };
}

/** The part of a Dispatcher that sends requests. */
export interface RequestDispatcher {
  request(options: Dispatcher.RequestOptions & MayStart): Promise<SentAnswer>;
}

/** The way to one API server: {@link Connections}, or a simulated network in its place. */
export interface ApiConnections {
  current(): { readonly requests: RequestDispatcher; readonly streams: RequestDispatcher };
  suspect(): void;
  close(): Promise<void>;
  /** Opens WebSockets. Absent: there are none. */
  forChannels?(): Dispatcher;
}

/** Connections made with the same TLS material. */
interface Generation {
  readonly tls: TlsMaterial;
  readonly madeAtMs: number;
  readonly requests: Dispatcher;
  readonly streams: Dispatcher;
}

/**
 * The connections to one API server. Watches have their own, so that they never block a request. After a certificate
 * rotation, or if connections were found dead, new connections are made for new requests; the old ones finish what is
 * running.
 */
export class Connections implements ApiConnections {
  private readonly retired = new Set<Generation>();
  private generation: Generation | undefined;
  private unusable: TlsMaterial | undefined;

  constructor(private readonly options: ConnectionsOptions) {}

  /** The connections for the next request. */
  current(): Pick<Generation, 'requests' | 'streams'> {
    return this.currentGeneration();
  }

  private currentGeneration(): Generation {
    const { tls } = this.options.connection;
    const { generation } = this;
    if (generation && (generation.tls === tls || this.unusable === tls)) return generation;
    return this.replace(tls);
  }

  forChannels(): Dispatcher {
    return this.currentGeneration().streams;
  }

  /** A request got no answer: other requests on these connections may be affected too. */
  suspect(): void {
    const { generation } = this;
    if (!generation || this.options.clock.monotonicNow() - generation.madeAtMs < YOUNG_MS) return;
    this.replace(generation.tls);
  }

  /** Closes every connection immediately; running requests are rejected. */
  async close(): Promise<void> {
    const all = this.generation ? [...this.retired, this.generation] : [...this.retired];
    await Promise.all(all.flatMap(({ requests, streams }) => [requests.destroy(), streams.destroy()]));
  }

  private replace(tls: TlsMaterial): Generation {
    const former = this.generation;
    try {
      this.generation = this.make(tls);
    } catch (error) {
      // One file of a cert and key pair may be new and the other not yet. The next read returns another object.
      if (!former) throw error;
      this.unusable = tls;
      const { logger = silentLogger } = this.options;
      logger.warn('the new certificates cannot be used; keeping the old ones', {
        reason: errorMessage(error),
      });
      return former;
    }
    if (former) this.retire(former);
    return this.generation;
  }

  private retire(generation: Generation): void {
    this.retired.add(generation);
    const { requests, streams } = generation;
    // Waits for running requests; watches are short-lived.
    void Promise.allSettled([requests.close(), streams.close()]).then(() => this.retired.delete(generation));
  }

  private make(tls: TlsMaterial): Generation {
    const { clock, maxSockets } = this.options;
    const connect = this.connectOptions(tls);
    return {
      tls,
      madeAtMs: clock.monotonicNow(),
      requests: this.newAgent(connect, { connections: maxSockets, maxResponseSize: MAX_ANSWER_BYTES }),
      streams: this.newAgent(connect, { connections: null }),
    };
  }

  private connectOptions({ ca, cert, insecureSkipVerify, key, serverName }: TlsMaterial): ConnectOptions {
    const isTls = this.options.connection.serverUrl.startsWith('https:');
    return {
      allowH2: false,
      timeout: this.options.connectTimeoutMs,
      keepAlive: true,
      // Followed by ten probes, a second apart: a dead peer is noticed after 25 s.
      keepAliveInitialDelay: 15_000,
      // Created once: parsing the certificates for each of a burst of connections costs more than the handshakes.
      ...(isTls ? { secureContext: createSecureContext({ ca, cert, key }) } : {}),
      ...(serverName ? { servername: serverName } : {}),
      rejectUnauthorized: !insecureSkipVerify,
    };
  }

  private newAgent(
    connect: ConnectOptions,
    limits: { readonly connections: number | null; readonly maxResponseSize?: number },
  ): Dispatcher {
    const { connectTimeoutMs } = this.options;
    const { proxyUrl } = this.options.connection;
    const options = {
      ...limits,
      pipelining: 1,
      allowH2: false,
      // Below the idle timeout of API servers (Go: 90 s; Node: 5 s, announced in a header).
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 60_000,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (!proxyUrl) return new Agent({ ...options, connect }).compose(askBeforeStart);
    const { protocol, username, password } = new URL(proxyUrl);
    const toProxy = protocol.startsWith('socks')
      ? // undici would use TLS to the proxy if there were options for it, and does not decode the URL's login.
        { username: decodeURIComponent(username), password: decodeURIComponent(password) }
      : { proxyTls: { allowH2: false, timeout: connectTimeoutMs } };
    const timeouts = { connectTimeout: connectTimeoutMs };
    const agent = new ProxyAgent({ ...options, ...timeouts, ...toProxy, uri: proxyUrl, requestTls: connect });
    return agent.compose(askBeforeStart);
  }
}

type ConnectOptions = buildConnector.BuildOptions;
