import { Agent as HttpAgent, createServer as createHttpServer, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Agent as HttpsAgent, createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { createAuthority, createServerCertificate } from '@rollkeeper/tls/certificates';
import { giveAnswer } from './given-answer.js';
import type { GivenAnswer, HalfSent } from './given-answer.js';
import { ProxiedWatch } from './proxied-watch.js';
import type { EventDecisions } from './proxied-watch.js';
import type { RequestMatch, SeenRequest } from './request-match.js';
import { isMatch, seenRequest } from './request-match.js';

/** A request on its way through a {@link FaultProxy}. */
export interface ProxiedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** The headers that are passed on: the server gets what is changed here. */
  readonly headers: IncomingHttpHeaders;
  /** The resource that it is about; undefined: none (`/readyz`, discovery), or its path is malformed. */
  readonly resource: SeenRequest | undefined;
  /** Reads the whole body. A body that is not read is passed on as it comes. */
  readonly body: () => Promise<Buffer>;
}

/** The fate of a request that does not simply pass. */
export interface RequestDecision {
  /** The answer, without the server being asked. */
  readonly before?: GivenAnswer;
  /**
   * Called once the server has answered with that HTTP status; what it awaits holds the answer up. Returns the answer
   * in place of the server's; undefined: the server's own. It is not called for a watch that the server has begun.
   */
  readonly after?: (status: number) => AfterEffect | Promise<AfterEffect>;
}

type AfterEffect = GivenAnswer | HalfSent | undefined;

/** Decides about requests and about the events of watches. */
export interface FaultDecisions extends EventDecisions {
  /** Undefined: the request passes. What it awaits holds the request up; if it throws, the connection breaks. */
  decide(request: ProxiedRequest): RequestDecision | undefined | Promise<RequestDecision | undefined>;
}

/** The options of a {@link FaultProxy}. */
export interface FaultProxyOptions {
  /** The server behind it, `http:` or `https:`. */
  readonly url: string;
  /** The CA certificate that the server is known by. @default the system's */
  readonly ca?: string;
  /** The port of 127.0.0.1; 0 lets the system choose. @default 0 */
  readonly port?: number;
  /** Whether clients connect by TLS, to a certificate made at the start. */
  readonly tls: boolean;
  readonly decisions: FaultDecisions;
  readonly clock: Clock;
  readonly logger: Logger;
}

const HOSTS = ['127.0.0.1', '::1', 'localhost'];
/** Connections are each side's own. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection'];
/** Longer than clients keep a connection that they do not use: they are the ones to close it. */
const KEEP_ALIVE_MS = 60_000;

/**
 * A proxy before an API server. It answers in the server's place, late, by half, or not at all, as its decisions say. It
 * passes on the credentials of a client, except client certificates. Connections that change their protocol (`exec`,
 * `port-forward`) pass unchanged.
 */
export class FaultProxy {
  private readonly target: URL;
  private readonly agent: HttpAgent;
  private readonly watches = new Set<ProxiedWatch>();
  private readonly silent = new Set<ServerResponse>();
  private readonly upgraded = new Set<Duplex>();
  private server: Server | undefined;

  constructor(private readonly options: FaultProxyOptions) {
    this.target = new URL(options.url);
    this.agent =
      this.target.protocol === 'https:'
        ? new HttpsAgent({ keepAlive: true, ca: options.ca })
        : new HttpAgent({ keepAlive: true });
  }

  /** Resolves with the URL on which it listens, and with TLS the CA certificate that clients must trust. */
  async start(): Promise<{ readonly url: string; readonly ca: string }> {
    const { clock, logger, port = 0, tls } = this.options;
    const authority = tls ? await createAuthority(clock.now()) : undefined;
    const listener = (incoming: IncomingMessage, answer: ServerResponse): void => {
      answer.on('error', () => answer.destroy());
      this.handle(incoming, answer).catch((error: unknown) => {
        logger.debug('a request through the faults has failed', { error });
        answer.destroy();
      });
    };
    const server = authority
      ? createHttpsServer(await createServerCertificate(authority, HOSTS, clock.now()), listener)
      : createHttpServer(listener);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.on('upgrade', (incoming, socket, head) => this.upgrade(incoming, socket, head));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    const address = server.address() as AddressInfo;
    const url = `${authority ? 'https' : 'http'}://127.0.0.1:${address.port}`;
    return { url, ca: authority?.pem.cert ?? '' };
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const watch of this.watches) watch.cut();
    for (const socket of this.upgraded) socket.destroy();
    server.closeAllConnections();
    this.agent.destroy();
    await closed;
  }

  /** The watches that there are, of these resources. */
  watchesOf(match: Pick<RequestMatch, 'resource' | 'namespace'> = {}): ProxiedWatch[] {
    return [...this.watches].filter(({ request }) => isMatch(match, request));
  }

  /** Connections without an answer break, and so do watches that were silenced. */
  heal(): void {
    for (const watch of [...this.watches]) watch.heal();
    for (const answer of this.silent) answer.destroy();
    this.silent.clear();
  }

  private async handle(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const request = new IncomingRequest(incoming);
    const { after, before } = (await this.options.decisions.decide(request)) ?? {};
    if (before) {
      incoming.resume();
      return this.give(before, answer);
    }
    const real = await this.send(request);
    const { resource } = request;
    if (resource?.verb === 'watch' && real.statusCode === 200)
      return this.watch(request, resource, real, answer);
    const given = await after?.(real.statusCode ?? 500);
    if (!given) return relay(real, answer);
    if (given.kind === 'half-sent') return relayHalf(real, answer);
    real.resume();
    this.give(given, answer);
  }

  private async watch(
    { path }: ProxiedRequest,
    request: SeenRequest,
    events: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    answer.writeHead(200, headersOf(events));
    answer.flushHeaders();
    const { clock, decisions } = this.options;
    const hasInitialEvents = /[?&]sendInitialEvents=(true|1)/.test(path);
    const watch = new ProxiedWatch({ request, hasInitialEvents, events, answer, decisions, clock });
    this.watches.add(watch);
    await watch.run().finally(() => this.watches.delete(watch));
  }

  private give(given: GivenAnswer, answer: ServerResponse): void {
    if (given.kind === 'silence') this.silent.add(answer);
    else giveAnswer(given, answer);
  }

  /** The server's answer, headers first. */
  private send(request: IncomingRequest): Promise<IncomingMessage> {
    const { headers, incoming, method, path } = request;
    return new Promise((resolve, reject) => {
      const outgoing = this.ask({ method, path, headers: withoutHop(headers) }, resolve);
      outgoing.on('error', reject);
      incoming.on('error', reject);
      if (incoming.destroyed && !incoming.complete)
        return void outgoing.destroy(new Error('the client has left'));
      if (request.readBody) return void outgoing.end(request.readBody);
      // A client that leaves: the server is to notice it.
      incoming.on('close', () => incoming.complete || outgoing.destroy());
      incoming.pipe(outgoing);
    });
  }

  private ask(
    { method, path, headers }: { method?: string; path?: string; headers: IncomingMessage['headers'] },
    onAnswer?: (answer: IncomingMessage) => void,
  ): ClientRequest {
    const { hostname: host, port, protocol } = this.target;
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    return send({ host, port, method, path, headers, agent: this.agent }, onAnswer);
  }

  private upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { headers, method, url } = incoming;
    this.upgraded.add(socket);
    socket.on('close', () => this.upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    const outgoing = this.ask({ method, path: url, headers });
    outgoing.on('error', () => socket.destroy());
    outgoing.on('upgrade', (answer, server, first) => {
      socket.write(headText(answer));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) server.write(head);
      pipeline(server, socket, server).catch(() => socket.destroy());
    });
    outgoing.on('response', (answer) => {
      socket.write(headText(answer, { connection: 'close' }));
      pipeline(answer, socket).catch(() => socket.destroy());
    });
    outgoing.end();
  }
}

/** A request as it has come in. */
class IncomingRequest implements ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: SeenRequest | undefined;
  /** The body, if it has been read. */
  readBody: Buffer | undefined;
  readonly body = async (): Promise<Buffer> => (this.readBody ??= await wholeOf(this.incoming));

  constructor(readonly incoming: IncomingMessage) {
    this.method = incoming.method ?? 'GET';
    this.path = incoming.url ?? '/';
    this.headers = { ...incoming.headers };
    this.resource = seenRequest(incoming);
  }
}

async function relay(answer: IncomingMessage, to: ServerResponse): Promise<void> {
  to.writeHead(answer.statusCode ?? 500, headersOf(answer));
  to.flushHeaders();
  await pipeline(answer, to);
}

/** The connection breaks in the middle of the answer. */
async function relayHalf(answer: IncomingMessage, to: ServerResponse): Promise<void> {
  const text = await wholeOf(answer);
  to.writeHead(answer.statusCode ?? 500, { ...headersOf(answer), 'content-length': text.length });
  to.write(text.subarray(0, Math.floor(text.length / 2)), () => to.destroy());
}

async function wholeOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function headersOf({ headers }: IncomingMessage): IncomingMessage['headers'] {
  return withoutHop(headers);
}

function withoutHop(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

function headText(
  { headers, statusCode, statusMessage }: IncomingMessage,
  own: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({ ...headers, ...own }).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}: ${each}`),
  );
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n');
}
