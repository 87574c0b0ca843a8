import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { ApiServer, MemoryStorage, createKindRegistry, createSchemaRegistry } from '@rollkeeper/apiserver';
import type { ApiServerOptions } from '@rollkeeper/apiserver';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { Json, JsonObject } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

/** A request as a recording has it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  /** Content-Type; `none` for no such header. @default 'application/json' */
  readonly type?: string;
  readonly body?: Json;
  /** Text that is sent as it is, in place of `body`. */
  readonly raw?: string;
  /** @default 'application/json' */
  readonly accept?: string;
}

export interface ServerAnswer {
  readonly code: number;
  /** Texts of the `Warning` headers. */
  readonly warnings: readonly string[];
  readonly body: JsonObject;
  /** The body as it was sent. */
  readonly text: string;
}

/** Time for a request under way when the server stops, milliseconds. */
const DRAIN_MS = 1000;

/** The user that made the recordings. */
const USER = { token: 'recorder', username: 'admin', uid: 'admin', groups: ['system:masters'] };

/** An API server in this process, on memory, with admission as it ships and without controllers. */
export class AnswerServer {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** Watches last until their time is over, so that they do not share a connection. */
  private readonly watchAgent = new Agent();

  private constructor(
    private readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  /**
   * @param options.uid the user's. @default 'admin', as in most recordings
   * @param options.unknownServiceAccounts whether a pod needs its account. @default that of the server
   */
  static async start({
    uid = USER.uid,
    unknownServiceAccounts,
  }: Pick<ApiServerOptions, 'unknownServiceAccounts'> & {
    readonly uid?: string;
  } = {}): Promise<AnswerServer> {
    const clock = new SystemClock();
    const storage = new MemoryStorage({ clock });
    const server = new ApiServer({
      storage,
      kinds: createKindRegistry(),
      schemas: createSchemaRegistry(),
      clock,
      random: new SystemRandom(),
      logger: silentLogger,
      drainTimeoutMs: DRAIN_MS,
      token: 'administrator',
      users: [{ ...USER, uid }],
      ...(unknownServiceAccounts && { unknownServiceAccounts }),
    });
    const stop = new AbortController();
    const run = Promise.all([storage.run(stop.signal), server.run(stop.signal)]);
    const { url } = await Promise.race([server.ready, run.then(() => server.ready)]);
    return new AnswerServer(url, async () => {
      stop.abort();
      await run;
    });
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    this.watchAgent.destroy();
    await this.end();
  }

  async createNamespace(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { code, body: answer } = await this.send({ method: 'POST', path: '/api/v1/namespaces', body });
    if (code !== 201) throw new Error(`the namespace ${name} is refused: ${code} ${show(answer.message)}`);
  }

  send({
    accept = 'application/json',
    body,
    method,
    path,
    query = '',
    raw,
    type = 'application/json',
  }: RecordedRequest): Promise<ServerAnswer> {
    const text = raw ?? (typeof body === 'string' ? body : body === undefined ? '' : stringifyJson(body));
    const headers: Record<string, string | number> = {
      accept,
      authorization: `Bearer ${USER.token}`,
      'user-agent': 'recorder/1',
      ...(type !== 'none' && { 'content-type': type }),
      ...(text !== '' && { 'content-length': Buffer.byteLength(text) }),
    };
    const { hostname, port } = new URL(this.url);
    // The path is sent as it is, even if it does not begin with a slash.
    const target = `${path}${query === '' ? '' : `?${query}`}`;
    const agent = /[?&]watch=/.test(target) ? this.watchAgent : this.agent;
    return new Promise((resolve, reject) => {
      const options = { hostname, port, path: target, method, headers, agent };
      const request = httpRequest(options, (response) => {
        readAnswer(response).then(resolve, reject);
      });
      request.on('error', reject);
      request.end(text);
    });
  }
}

function show(message: Json | undefined): string {
  return typeof message === 'string' ? message : '';
}

async function readAnswer(response: IncomingMessage): Promise<ServerAnswer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return { code: response.statusCode ?? 0, warnings: warningsOf(response), body: asObject(text), text };
}

/** An answer that is no JSON is a text. */
function asObject(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : { message: text };
  } catch {
    return { message: text };
  }
}

const WARNING = /299 - "((?:[^"\\]|\\.)*)"/g;

function warningsOf({ headers }: IncomingMessage): string[] {
  const header = Buffer.from(String(headers.warning ?? ''), 'latin1').toString('utf8');
  return [...header.matchAll(WARNING)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}
