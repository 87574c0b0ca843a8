import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';
import { withMemoryDefaults } from '../../src/machinery/process/index.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';

/** One request, as bytes as far as HTTP lets us. */
export interface HostileRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly ms: number;
}

/** The memory of the server after a collection of garbage. Bytes. */
export interface Footprint {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Names on shared prototypes that do not belong there. */
  readonly polluted: readonly string[];
}

export interface FuzzedServerOptions {
  /** The built program's folder. */
  readonly dist: string;
  /** Further arguments of `rollkeeper apiserver`. */
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
}

/** Only an answer that never comes exceeds these times, even on a slow machine. */
const READY_TIMEOUT_MS = 180_000;
export const ANSWER_TIMEOUT_MS = 300_000;
/** A connection may close just when it is used again; one that closes each time is an answer. */
const ATTEMPTS = 3;
/** How often, once a second, what prepares an attack is asked again of a store that does not answer. */
const PREPARE_ATTEMPTS = 120;

/** `rollkeeper apiserver` as a process of its own, over TLS, on a Redis of its own. */
export class FuzzedServer {
  /** Set when the process has ended by itself: what it ended with. */
  death: string | undefined;
  /** So many answers were 503 until now. */
  unavailable = 0;
  readonly ca: string;
  readonly token: string;
  private readonly pool: Pool;

  private constructor(
    private readonly redis: TestRedisServer,
    private readonly child: ChildProcess,
    readonly url: string,
    readonly dir: string,
  ) {
    this.ca = readFileSync(join(dir, 'ca.crt'), 'utf8');
    this.token = readFileSync(join(dir, 'token'), 'utf8').trim();
    this.pool = new Pool(url, {
      connections: 16,
      connect: { ca: this.ca },
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    child.once('exit', (code, signal) => (this.death = `exit code ${code}, signal ${signal}`));
  }

  static async start({ args = [], dist, execArgv = [] }: FuzzedServerOptions): Promise<FuzzedServer> {
    const redis = await startTestRedisServer();
    const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-fuzz-'));
    const log = openSync(join(dir, 'apiserver.log'), 'a');
    const preload = pathToFileURL(join(import.meta.dirname, 'instruments', 'preload.mjs')).href;
    const child = fork(
      join(dist, 'main.js'),
      ['apiserver', '--redis-url', redis.url, '--data-dir', dir, '--port', '0', ...args],
      {
        stdio: ['ignore', log, log, 'ipc'],
        execArgv: ['--import', preload, ...execArgv],
        // As `npm start` and the image run it.
        env: withMemoryDefaults(process.env),
      },
    );
    const url = await readyUrl(child, join(dir, 'apiserver.log'));
    return new FuzzedServer(redis, child, url, dir);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get logFile(): string {
    return join(this.dir, 'apiserver.log');
  }

  /** Resident memory as the system sees it now, bytes. */
  get rss(): number {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1];
    return Number(kib) * 1024;
  }

  /** @throws when there is no answer */
  async send(request: HostileRequest): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.sendOnce(request);
      } catch (error) {
        if (attempt >= ATTEMPTS || this.death !== undefined || !isConnectionLost(error)) throw error;
      }
    }
  }

  private async sendOnce({ body, headers, method, path }: HostileRequest): Promise<Answer> {
    const startedAt = performance.now();
    const response = await this.pool.request({
      method: method,
      path,
      headers: { authorization: `Bearer ${this.token}`, ...headers },
      body: body ?? null,
    });
    const text = await response.body.text();
    if (response.statusCode === 503) this.unavailable++;
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      ms: performance.now() - startedAt,
    };
  }

  /** The same with JSON on both sides, as often as the store does not answer. @throws for anything but 2xx */
  async call(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<unknown> {
    const request: HostileRequest = {
      method,
      path,
      ...(body !== undefined && {
        headers: { 'content-type': contentType },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    };
    let answer = await this.send(request);
    for (let attempt = 1; answer.status === 503 && attempt < PREPARE_ATTEMPTS; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      answer = await this.send(request);
      // The one that was not answered may have been carried out.
      if (method === 'POST' && answer.status === 409) return undefined;
    }
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return JSON.parse(answer.text);
  }

  /** Measures the memory after a collection of garbage. */
  measure(): Promise<Footprint> {
    return this.askInside({ fuzz: 'measure', collects: true });
  }

  /** Names on shared prototypes that do not belong there. */
  async polluted(): Promise<readonly string[]> {
    return (await this.askInside({ fuzz: 'measure', collects: false })).polluted;
  }

  private askInside(question: object): Promise<Footprint> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('the server did not tell its footprint')),
        ANSWER_TIMEOUT_MS,
      );
      const listen = (message: { type?: string } & Footprint): void => {
        if (message.type !== 'measured') return;
        clearTimeout(timer);
        this.child.off('message', listen);
        resolve(message);
      };
      this.child.on('message', listen);
      if (this.child.connected) this.child.send(question);
      else reject(new Error(`the server is gone: ${this.death}`));
    });
  }

  /** @param keepFiles leave certificates, token and log where they are */
  async stop({ keepFiles = false }: { readonly keepFiles?: boolean } = {}): Promise<void> {
    await this.pool.destroy();
    if (this.death === undefined) {
      const exited = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGTERM');
      const killer = setTimeout(() => this.child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(killer);
    }
    await this.redis.stop();
    if (!keepFiles) rmSync(this.dir, { recursive: true, force: true });
  }
}

function isConnectionLost(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((error as { code?: string }).code ?? '');
}

function readyUrl(child: ChildProcess, logFile: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new Error(`the API server ${why}\n${readFileSync(logFile, 'utf8').slice(-2000)}`));
    const timer = setTimeout(() => fail('is not ready'), READY_TIMEOUT_MS);
    child.once('exit', (code) => fail(`ended with ${code}`));
    child.on('message', (message: { type?: string; url?: string }) => {
      if (message.type !== 'ready') return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve(message.url ?? '');
    });
  });
}
