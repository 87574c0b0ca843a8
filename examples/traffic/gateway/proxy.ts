import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent, createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RandomSource } from 'rollkeeper';
import { changeRequestHeaders, changeResponseHeaders } from './change-headers.ts';
import type { Headers } from './change-headers.ts';
import { chooseBackend, isMirrored } from './choose-backend.ts';
import { durationMs } from './duration.ts';
import type { BackendRef, RouteFilter } from './gateway-api.ts';
import type { Candidate } from './match-request.ts';
import type { Endpoint } from './resolve-backends.ts';
import type { RouteTable } from './route-table.ts';

/** Fields of one connection, which are not passed on. */
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];
/** A client must not find a connection closed that it is about to use. */
const IDLE_MS = 120_000;

export interface ProxyOptions {
  /** The table in effect. */
  readonly table: () => RouteTable;
  readonly random: RandomSource;
  /** Finds the port of an endpoint; undefined if nothing listens there. */
  readonly dial: (endpoint: Endpoint) => Promise<{ readonly port: number } | undefined>;
}

interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

/** Answers HTTP requests by the routes: chooses a backend by weight, and passes the request on to one of its pods. */
export class Proxy {
  private readonly options: ProxyOptions;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });
  private readonly server = createServer({ keepAliveTimeout: IDLE_MS }, (request, response) => {
    this.answer(request, response).catch((error: unknown) => fail(response, 502, String(error)));
  });
  private turns = 0;

  constructor(options: ProxyOptions) {
    this.options = options;
  }

  /** Listens on 127.0.0.1, and resolves with the port. */
  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    this.agent.destroy();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const table = this.options.table();
    const { headers, method = 'GET', url = '/' } = request;
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const host = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
    const candidate = table.find({ method, host, path: pathname, query: searchParams, headers });
    const body = await bodyOf(request);
    if (!candidate) return fail(response, 404, 'no route');
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    const timeout = durationMs(candidate.rule.timeouts?.request);
    const signal = timeout ? AbortSignal.any([ended.signal, AbortSignal.timeout(timeout)]) : ended.signal;
    const { filters = [] } = candidate.rule;
    const outgoing = { method, path: url, headers: forwarded(headers), body, signal };
    this.mirror(table, candidate, filters, outgoing);
    const backend = chooseBackend(candidate.rule.backendRefs ?? [], this.options.random);
    if (!backend) return fail(response, 500, 'no backend has a weight');
    const all = [...filters, ...(backend.filters ?? [])];
    this.mirror(table, candidate, backend.filters ?? [], outgoing);
    const sent = { ...outgoing, headers: changeRequestHeaders(outgoing.headers, all) };
    const answered = await this.pass(table, candidate, backend, sent);
    if ('code' in answered) return fail(response, answered.code, answered.reason);
    passOn(answered.response, response, all);
  }

  /** Asks the pods of a backend in turn, and another one only if the first did not answer. */
  private async pass(
    table: RouteTable,
    { route, rule }: Candidate,
    backend: BackendRef,
    outgoing: Outgoing,
  ): Promise<{ response: IncomingMessage } | { code: number; reason: string }> {
    const { endpoints, problem } = table.resolve(route, backend);
    if (problem) return { code: 500, reason: problem.message };
    if (endpoints.length === 0) return { code: 503, reason: `${backend.name} has no ready endpoint` };
    const limit = durationMs(rule.timeouts?.backendRequest);
    const first = this.turns++;
    let reason = '';
    for (const [index] of endpoints.entries()) {
      const endpoint = endpoints[(first + index) % endpoints.length];
      if (!endpoint) continue;
      const signal = limit ? AbortSignal.any([outgoing.signal, AbortSignal.timeout(limit)]) : outgoing.signal;
      try {
        return { response: await this.send(endpoint, { ...outgoing, signal }) };
      } catch (error) {
        if (outgoing.signal.aborted || signal.aborted) return { code: 504, reason: 'timeout' };
        reason = `${endpoint.pod}: ${String(error)}`;
        if (!isRepeatable(outgoing)) break;
      }
    }
    return { code: 502, reason };
  }

  /**
   * Sends a request over a connection that is kept. One that the pod has just closed, before it saw anything of the
   * request, is no failure of the pod: the request is sent again over a new connection, as other proxies do.
   */
  private async send(
    endpoint: Endpoint,
    outgoing: Outgoing,
    agent: Agent | false = this.agent,
  ): Promise<IncomingMessage> {
    const address = await this.options.dial(endpoint);
    if (!address) throw new Error('connection refused');
    const { body, headers, ...others } = outgoing;
    const options = { ...others, agent, host: '127.0.0.1', port: address.port };
    const sent = sendRequest({ ...options, headers: headers as OutgoingHttpHeaders });
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve).once('error', reject).end(body);
      });
    } catch (error) {
      if (agent === false || !sent.reusedSocket || !isRepeatable(outgoing)) throw error;
      return this.send(endpoint, outgoing, false);
    }
  }

  /** Copies go to a pod of their backend. Nothing waits for the answer, and a copy that fails is lost. */
  private mirror(
    table: RouteTable,
    { route }: Candidate,
    filters: readonly RouteFilter[],
    outgoing: Outgoing,
  ): void {
    for (const filter of filters) {
      if (!filter.requestMirror || !isMirrored(filter, this.options.random)) continue;
      const { endpoints } = table.resolve(route, filter.requestMirror.backendRef);
      const endpoint = endpoints[this.turns++ % endpoints.length];
      if (!endpoint) continue;
      const signal = AbortSignal.timeout(IDLE_MS);
      this.send(endpoint, { ...outgoing, signal }).then(
        (copy) => copy.resume().on('error', () => undefined),
        () => undefined,
      );
    }
  }
}

/** A request that may have had an effect is not repeated. */
function isRepeatable({ method, signal }: Outgoing): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) && !signal.aborted;
}

function forwarded(headers: IncomingMessage['headers']): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_A_CONNECTION.includes(name)));
}

function passOn(from: IncomingMessage, to: ServerResponse, filters: readonly RouteFilter[]): void {
  const headers = changeResponseHeaders(forwarded(from.headers), filters);
  to.writeHead(from.statusCode ?? 502, headers as OutgoingHttpHeaders);
  from.on('error', () => to.destroy());
  from.pipe(to);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function fail(response: ServerResponse, code: number, reason: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(code, { 'content-type': 'text/plain' }).end(`${reason}\n`);
}
