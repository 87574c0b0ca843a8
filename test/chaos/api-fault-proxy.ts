import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AnswerFault {
  readonly kind: 'status' | 'half-sent' | 'hang';
  /** The share of the requests that it hits. */
  readonly share: number;
  readonly status?: number;
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
  /** The methods of the requests that it meets. @default all but watches */
  readonly methods?: readonly string[];
  /** @default all */
  readonly paths?: RegExp;
  /** Whether the server has done what was asked before the fault shows. */
  readonly afterwards?: boolean;
}

export type WatchFault = { readonly kind: 'delay'; readonly delayMs: number } | { readonly kind: 'gone' };

/** A write as the proxy sees it. */
export interface SeenWrite {
  readonly method: string;
  readonly path: string;
  readonly when: 'before' | 'after';
  readonly body: Buffer;
}

/** A request as it comes in. */
export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** As they are passed on: what is changed here is what the server gets. */
  readonly headers: IncomingHttpHeaders;
  /** Empty of a watch. */
  readonly body: Buffer;
}

/** The answer of an admission plug-in that refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

/** An answer of the server that only the proxy gives. */
export interface OwnAnswer {
  readonly status: number;
  readonly json: unknown;
}

const GONE = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version',
  reason: 'Expired',
  code: 410,
};

/** Stands before the API server of one replica and answers in its place, late, or half. */
export class ApiFaultProxy {
  private readonly server: Server;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly watches = new Set<ServerResponse>();
  private readonly hanging = new Set<ServerResponse>();
  private answerFault: AnswerFault | undefined;
  private watchFault: WatchFault | undefined;
  /** Sees each write, before it is passed on and after the server has answered; what it awaits holds the write up. */
  onWrite: ((write: SeenWrite) => void | Promise<void>) | undefined;
  /** Sees each request but watches before anything else; what it returns is the answer. Stays until it is taken away. */
  onRequest: ((request: SeenRequest) => Refusal | OwnAnswer | undefined) | undefined;
  /** The same for watches. */
  onWatch: ((request: SeenRequest) => Refusal | undefined) | undefined;
  requests = 0;

  constructor(
    private readonly target: { port: number },
    private readonly random: () => number,
  ) {
    this.server = createServer((incoming, answer) => {
      this.handle(incoming, answer).catch(() => answer.destroy());
    });
    this.server.keepAliveTimeout = 60_000;
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
    this.agent.destroy();
  }

  answerWith(fault: AnswerFault): void {
    this.answerFault = fault;
  }

  watchWith(fault: WatchFault): void {
    this.watchFault = fault;
    if (fault.kind === 'gone') for (const watch of [...this.watches]) endAsGone(watch);
  }

  cutWatches(): void {
    for (const watch of [...this.watches]) watch.destroy();
  }

  heal(): void {
    this.answerFault = undefined;
    this.watchFault = undefined;
    for (const answer of this.hanging) answer.destroy();
    this.hanging.clear();
  }

  private async handle(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    this.requests += 1;
    answer.on('error', () => answer.destroy());
    const url = incoming.url ?? '';
    const { headers: asked, method = '' } = incoming;
    if (method === 'GET' && /[?&]watch=(1|true)/.test(url)) {
      const refusal = this.onWatch?.({ method, path: url, headers: asked, body: Buffer.alloc(0) });
      return refusal ? sendStatus(answer, refusal) : this.watch(incoming, answer);
    }
    const body = await readAll(incoming);
    const own = this.onRequest?.({ method, path: url, headers: asked, body });
    if (own && 'json' in own) return sendJson(answer, own.status, own.json);
    if (own) return sendStatus(answer, own);
    const fault = this.faultFor(method, url);
    if (fault && !fault.afterwards && fault.kind !== 'half-sent') return this.fail(fault, answer);
    const isWrite = incoming.method !== 'GET';
    const write = { method: incoming.method ?? '', path: url, body };
    if (isWrite) await this.onWrite?.({ ...write, when: 'before' });
    const { headers, status, text } = await this.forward(incoming, body);
    if (isWrite) await this.onWrite?.({ ...write, when: 'after' });
    if (fault?.kind === 'half-sent') {
      answer.writeHead(status, { ...headers, 'content-length': String(text.length) });
      answer.write(text.subarray(0, Math.floor(text.length / 2)), () => answer.destroy());
    } else if (fault) this.fail(fault, answer);
    else answer.writeHead(status, { ...headers, 'content-length': String(text.length) }).end(text);
  }

  private faultFor(method: string, path: string): AnswerFault | undefined {
    const fault = this.answerFault;
    if (!fault || (fault.methods && !fault.methods.includes(method))) return undefined;
    if (fault.paths && !fault.paths.test(path)) return undefined;
    return this.random() < fault.share ? fault : undefined;
  }

  private fail(fault: AnswerFault, answer: ServerResponse): void {
    if (fault.kind === 'hang') {
      this.hanging.add(answer);
      return;
    }
    const { reason = 'InternalError', retryAfterSeconds, status = 500 } = fault;
    const retry: Record<string, string> =
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    sendStatus(answer, { status, reason, message: 'made by the fault proxy' }, retry);
  }

  private forward(
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; headers: Record<string, string>; text: Buffer }> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: this.target.port,
          method: incoming.method,
          path: incoming.url,
          headers: incoming.headers,
          agent: this.agent,
        },
        (response) => {
          readAll(response).then((text) => {
            const headers = { ...response.headers } as Record<string, string>;
            for (const name of ['transfer-encoding', 'connection', 'keep-alive', 'content-length'])
              delete headers[name];
            resolve({ status: response.statusCode ?? 500, headers, text });
          }, reject);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  private watch(incoming: IncomingMessage, answer: ServerResponse): void {
    if (this.watchFault?.kind === 'gone') {
      answer.writeHead(200, { 'content-type': 'application/json' });
      endAsGone(answer);
      return;
    }
    const { headers, method, url: path } = incoming;
    const target = { host: '127.0.0.1', port: this.target.port };
    const outgoing = request({ ...target, method, path, headers, agent: false }, (response) => {
      answer.writeHead(response.statusCode ?? 500, { 'content-type': 'application/json' });
      answer.flushHeaders();
      this.watches.add(answer);
      let order = Promise.resolve();
      const inOrder = (then: () => void): void => {
        const delayMs = this.watchFault?.kind === 'delay' ? this.watchFault.delayMs : 0;
        const ready = delayMs === 0 ? Promise.resolve() : new Promise((r) => setTimeout(r, delayMs));
        order = order.then(async () => {
          await ready;
          then();
        });
      };
      response.on('data', (chunk: Buffer) =>
        inOrder(() => void (answer.writableEnded || answer.destroyed || answer.write(chunk))),
      );
      response.on('end', () => inOrder(() => void answer.end()));
      response.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => {
      this.watches.delete(answer);
      outgoing.destroy();
    });
    outgoing.end();
  }
}

function sendStatus(
  answer: ServerResponse,
  { message, reason, status }: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(answer, status, { ...GONE, message, reason, code: status }, headers);
}

function sendJson(
  answer: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  answer.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function endAsGone(watch: ServerResponse): void {
  watch.end(`${JSON.stringify({ type: 'ERROR', object: GONE })}\n`);
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
