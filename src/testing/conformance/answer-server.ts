import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { ApiServer, MemoryStorage, createKindRegistry, createSchemaRegistry } from '@rollkeeper/apiserver';
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
}

export interface ServerAnswer {
  readonly code: number;
  /** Texts of the `Warning` headers. */
  readonly warnings: readonly string[];
  readonly body: JsonObject;
}

/** Time for a request under way when the server stops, milliseconds. */
const DRAIN_MS = 1000;

/** The user that made the recordings. */
const USER = { token: 'recorder', username: 'admin', uid: 'admin', groups: ['system:masters'] };

/** An API server in this process, on memory, with admission as it ships and without controllers. */
export class AnswerServer {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(
    private readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(): Promise<AnswerServer> {
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
      users: [USER],
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
    await this.end();
  }

  async createNamespace(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { code, body: answer } = await this.send({ method: 'POST', path: '/api/v1/namespaces', body });
    if (code !== 201) throw new Error(`the namespace ${name} is refused: ${code} ${show(answer.message)}`);
  }

  send({
    body,
    method,
    path,
    query = '',
    raw,
    type = 'application/json',
  }: RecordedRequest): Promise<ServerAnswer> {
    const text = raw ?? (typeof body === 'string' ? body : body === undefined ? '' : stringifyJson(body));
    const headers: Record<string, string | number> = {
      accept: 'application/json',
      authorization: `Bearer ${USER.token}`,
      'user-agent': 'recorder/1',
      ...(type !== 'none' && { 'content-type': type }),
      ...(text !== '' && { 'content-length': Buffer.byteLength(text) }),
    };
    const url = `${this.url}${path}${query === '' ? '' : `?${query}`}`;
    return new Promise((resolve, reject) => {
      const request = httpRequest(url, { method, headers, agent: this.agent }, (response) => {
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
  return { code: response.statusCode ?? 0, warnings: warningsOf(response), body: asObject(text) };
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
