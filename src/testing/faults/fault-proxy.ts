import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Agent as HttpsAgent, createServer, request as httpsRequest } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { createAuthority, createServerCertificate } from '@rollkeeper/tls/certificates';
import type { FaultLog } from './fault-log.js';
import { faultText } from './fault-log.js';
import type { ChosenFault, FaultPlan } from './fault-plan.js';
import type { AnswerFault } from './planned-fault.js';
import { ProxiedWatch } from './proxied-watch.js';
import type { SeenRequest } from './request-match.js';
import { isMatch, seenRequest } from './request-match.js';
import type { WatchGates, WatchMatch } from './watch-gates.js';

interface FaultProxyParts {
  /** The server behind it, and the certificate that it is known by. */
  readonly url: string;
  readonly ca: string;
  readonly port: number;
  readonly plan: FaultPlan;
  readonly gates: WatchGates;
  readonly log: FaultLog;
  readonly clock: Clock;
  readonly watchDelayMs: number;
  readonly logger: Logger;
}

const HOSTS = ['127.0.0.1', '::1', 'localhost'];
/** Connections are each side's own. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection'];

/**
 * A proxy before an API server. It answers in the server's place, late, or not at all, as its plan decides. It passes
 * on the credentials of a client, except client certificates. Connections that change their protocol (`exec`,
 * `port-forward`) pass unchanged.
 */
export class FaultProxy {
  private readonly target: URL;
  private readonly agent: HttpAgent;
  private readonly watches = new Set<ProxiedWatch>();
  private readonly silent = new Set<ServerResponse>();
  private readonly upgraded = new Set<Duplex>();
  private server: Server | undefined;

  constructor(private readonly parts: FaultProxyParts) {
    this.target = new URL(parts.url);
    this.agent =
      this.target.protocol === 'https:'
        ? new HttpsAgent({ keepAlive: true, ca: parts.ca })
        : new HttpAgent({ keepAlive: true });
  }

  /** Resolves with the URL on which it listens, and the CA certificate that clients must trust. */
  async start(): Promise<{ readonly url: string; readonly ca: string }> {
    const nowMs = this.parts.clock.now();
    const authority = await createAuthority(nowMs);
    const { cert, key } = await createServerCertificate(authority, HOSTS, nowMs);
    const server = createServer({ cert, key }, (incoming, answer) => {
      this.handle(incoming, answer).catch((error: unknown) => {
        this.parts.logger.debug('a request through the faults has failed', { error });
        answer.destroy();
      });
    });
    server.on('upgrade', (incoming, socket, head) => this.upgrade(incoming, socket, head));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.parts.port, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    return { url: `https://127.0.0.1:${port}`, ca: authority.pem.cert };
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

  watchesOf(match: WatchMatch): ProxiedWatch[] {
    return [...this.watches].filter(({ request }) => isMatch(match, request));
  }

  /** Connections without an answer break, and so do watches that were silenced. */
  heal(): void {
    for (const watch of [...this.watches]) watch.heal();
    for (const answer of this.silent) answer.destroy();
    this.silent.clear();
  }

  private async handle(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const request = seenRequest(incoming);
    if (request?.verb === 'watch') return this.watch(incoming, answer, request);
    const chosen = request && this.parts.plan.decide(request);
    if (!chosen) return this.pass(incoming, answer);
    if (chosen.fault.when === 'before') {
      incoming.resume();
      return this.fail(answer, chosen, request);
    }
    const real = await this.send(incoming);
    if ((real.statusCode ?? 500) >= 400) {
      chosen.planned?.giveBack();
      return relay(real, answer);
    }
    real.resume();
    this.fail(answer, chosen, request);
  }

  private async pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    await relay(await this.send(incoming), answer);
  }

  private async watch(
    incoming: IncomingMessage,
    answer: ServerResponse,
    request: SeenRequest,
  ): Promise<void> {
    const chosen = this.parts.plan.decide(request);
    if (chosen) return this.fail(answer, chosen, request);
    const events = await this.send(incoming);
    if (events.statusCode !== 200) return relay(events, answer);
    answer.writeHead(200, headersOf(events));
    answer.flushHeaders();
    const { clock, gates, log, plan, watchDelayMs } = this.parts;
    const hasInitialEvents = /[?&]sendInitialEvents=(true|1)/.test(incoming.url ?? '');
    const watch = new ProxiedWatch({
      ...{ request, hasInitialEvents, events, answer },
      ...{ plan, gates, log, clock, watchDelayMs },
    });
    this.watches.add(watch);
    await watch.run().finally(() => this.watches.delete(watch));
  }

  private fail(answer: ServerResponse, { fault, planned }: ChosenFault, request: SeenRequest): void {
    this.parts.log.note(faultText(fault), request, planned === undefined);
    planned?.hit();
    if (fault.kind === 'silence') this.silent.add(answer);
    else if (fault.kind === 'cut') answer.destroy();
    else sendStatus(answer, fault);
  }

  /** The server's answer, headers first. */
  private send(incoming: IncomingMessage): Promise<IncomingMessage> {
    const { headers, method, url } = incoming;
    return new Promise((resolve, reject) => {
      const outgoing = this.ask({ method, path: url, headers: withoutHop(headers) }, resolve);
      outgoing.on('error', reject);
      incoming.on('error', reject);
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

async function relay(answer: IncomingMessage, to: ServerResponse): Promise<void> {
  to.writeHead(answer.statusCode ?? 500, headersOf(answer));
  to.flushHeaders();
  await pipeline(answer, to);
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

function sendStatus(answer: ServerResponse, fault: Extract<AnswerFault, { kind: 'status' }>): void {
  const { code, reason, retryAfterSeconds } = fault;
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'made by the faults of the test',
    reason,
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    code,
  };
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  answer.writeHead(code, { 'content-type': 'application/json', ...retryAfter }).end(JSON.stringify(body));
}
